import { randomBytes } from 'node:crypto';
import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { SIGN_IN, sameOriginOnly } from '../../web/access.ts';
import { HttpError } from '../../web/http-error.ts';
import { fieldOf, queryOf, readForm } from '../../web/request.ts';
import { sendPage } from '../../web/send-page.ts';
import { createResetLink, hashResetSecret, RESET } from '../admin/reset-links.ts';
import { addRoute } from '../api/add-route.ts';
import { recordAction } from '../store/audit-log.ts';
import type { Database } from '../store/database.ts';
import {
  deletePasskeys,
  deleteResetLinks,
  deleteSessions,
  findResetLink,
  findUser,
  findUserByEmail,
  insertPasswordReset,
  listMemberships,
  listPasskeys,
  takeResetLink,
} from '../store/members.ts';
import { MIN_PASSWORD } from './auth-settings.ts';
import type { DashboardContext } from './dashboard-context.ts';
import type { SendMail } from './mail.ts';
import { takeResetMail } from './sign-in-lanes.ts';
import { ForgotPage, ResetPage } from './sign-in-pages.tsx';

const FORGOT = '/ui/forgot';

/** A new password: by a link that an operator made or, if the platform sends mail, one that was mailed. */
export function addResetRoutes(router: Router, context: DashboardContext): void {
  addRoute(router, RESET, {
    get: async (request, response) => {
      const link = queryOf(request, 'link');
      const passkeys = await listPasskeys(context.db, await requireLink(context, link));
      await sendPage(request, response, <ResetPage link={link} passkeys={passkeys} />);
    },
    post: [sameOriginOnly, readForm, (request, response) => reset(context, request, response)],
  });
  addRoute(router, FORGOT, {
    get: async (request, response) => {
      await sendPage(request, response, <ForgotPage hasMail={context.sendMail !== undefined} />);
    },
    post: [sameOriginOnly, readForm, (request, response) => acceptEmail(context, request, response)],
  });
}

function linkEnded(): HttpError {
  return new HttpError(410, 'This link was used or has expired: ask for a new one');
}

/** The user of a link. Throws 410 if it has ended. */
async function requireLink({ db }: DashboardContext, link: string): Promise<string> {
  const userId = await findResetLink(db, hashResetSecret(link));
  if (userId === undefined) throw linkEnded();
  return userId;
}

async function reset(context: DashboardContext, request: Request, response: Response): Promise<void> {
  const { db } = context;
  const link = fieldOf(request, 'link');
  const owner = await requireLink(context, link);
  const newPassword = fieldOf(request, 'password');
  if (newPassword.length < MIN_PASSWORD || newPassword.length > 200) {
    const error = `Expected ${MIN_PASSWORD} to 200 characters`;
    const passkeys = await listPasskeys(db, owner);
    return sendPage(request, response, <ResetPage link={link} passkeys={passkeys} error={error} />, 400);
  }
  const userId = await takeResetLink(db, hashResetSecret(link));
  if (userId === undefined) throw linkEnded();
  // Better Auth stores its own tokens readably: this one is used at once.
  const token = randomBytes(32).toString('base64url');
  await insertPasswordReset(db, { token, userId, expiresAt: new Date(Date.now() + 60_000) });
  const answer = await (await context.auth()).api.resetPassword({ body: { newPassword, token }, asResponse: true });
  if (!answer.ok) throw new HttpError(503, 'The password could not be changed now: ask for a new link');
  const keepsPasskeys = fieldOf(request, 'passkeys') === 'keep';
  await db.transaction(async (tx) => {
    await deleteSessions(tx, userId);
    await deleteResetLinks(tx, userId);
    if (!keepsPasskeys) await deletePasskeys(tx, userId);
  });
  const user = await findUser(db, userId);
  if (user !== undefined) await recordReset(db, user, keepsPasskeys ? 'kept the passkeys' : 'removed all passkeys');
  response.redirect(303, `${SIGN_IN}?reason=reset`);
}

/** In each of the person's organizations, because an account is for all of them. */
async function recordReset(db: Database, user: { id: string; email: string }, detail: string): Promise<void> {
  const actor = { kind: 'member' as const, id: user.id, name: user.email };
  for (const { organizationId } of await listMemberships(db, user.id)) {
    await recordAction(db, { organizationId, actor, action: 'password.reset', target: user.email, detail });
  }
}

/** An unknown email gets the same response after the same time, which doesn't reveal who has an account. */
async function acceptEmail(context: DashboardContext, request: Request, response: Response): Promise<void> {
  const { sendMail, logger } = context;
  if (sendMail === undefined) throw new HttpError(404, 'This platform sends no mail: ask its operator for a link');
  const email = fieldOf(request, 'email').trim();
  const parsed = z.email().max(254).safeParse(email);
  if (!parsed.success) {
    const error = 'Enter your email, such as ada@example.com';
    return sendPage(request, response, <ForgotPage hasMail email={email} error={error} />, 400);
  }
  mailLink(context, sendMail, parsed.data).catch((error: unknown) => {
    logger.error({ err: error }, 'The mail for a new password could not be sent');
  });
  response.redirect(303, `${SIGN_IN}?reason=mailed`);
}

/** Only the account limits its mails: others, with any email and from any address, take nothing from it. */
async function mailLink(context: DashboardContext, sendMail: SendMail, email: string): Promise<void> {
  const { db } = context;
  const user = await findUserByEmail(db, email);
  if (user === undefined || !(await takeResetMail(db, user.id))) return;
  const { url } = await createResetLink(db, { email, publicUrl: context.publicUrl() });
  await sendMail({
    to: user.email,
    subject: 'A new password for Galley',
    text: `Set a new password here, once within an hour:\n\n${url}\n\nIf you did not ask for it, ignore this mail: your password stays.\n`,
  });
}
