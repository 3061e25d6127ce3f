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
import {
  deleteSessions,
  findResetLink,
  findUser,
  insertPasswordReset,
  listMemberships,
  takeResetLink,
} from '../store/members.ts';
import { MIN_PASSWORD } from './auth-settings.ts';
import type { DashboardContext } from './dashboard-context.ts';
import { takeSignInAttempt } from './sign-in-limit.ts';
import { ForgotPage, ResetPage } from './sign-in-pages.tsx';

const FORGOT = '/ui/forgot';

/** A new password: by a link that an operator made or, if the platform sends mail, one that was mailed. */
export function addResetRoutes(router: Router, context: DashboardContext): void {
  addRoute(router, RESET, {
    get: async (request, response) => {
      const link = queryOf(request, 'link');
      await requireLink(context, link);
      await sendPage(request, response, <ResetPage link={link} />);
    },
    post: [sameOriginOnly, readForm, (request, response) => reset(context, request, response)],
  });
  addRoute(router, FORGOT, {
    get: async (request, response) => {
      await sendPage(request, response, <ForgotPage hasMail={context.sendMail !== undefined} />);
    },
    post: [sameOriginOnly, readForm, (request, response) => mailLink(context, request, response)],
  });
}

function linkEnded(): HttpError {
  return new HttpError(410, 'This link was used or has expired: ask for a new one');
}

async function requireLink({ db }: DashboardContext, link: string): Promise<void> {
  if ((await findResetLink(db, hashResetSecret(link))) === undefined) throw linkEnded();
}

async function reset(context: DashboardContext, request: Request, response: Response): Promise<void> {
  const { db } = context;
  const link = fieldOf(request, 'link');
  await requireLink(context, link);
  const newPassword = fieldOf(request, 'password');
  if (newPassword.length < MIN_PASSWORD || newPassword.length > 200) {
    const error = `Expected ${MIN_PASSWORD} to 200 characters`;
    return sendPage(request, response, <ResetPage link={link} error={error} />, 400);
  }
  const userId = await takeResetLink(db, hashResetSecret(link));
  if (userId === undefined) throw linkEnded();
  // Better Auth stores its own tokens readably: this one is used at once.
  const token = randomBytes(32).toString('base64url');
  await insertPasswordReset(db, { token, userId, expiresAt: new Date(Date.now() + 60_000) });
  const answer = await (await context.auth()).api.resetPassword({ body: { newPassword, token }, asResponse: true });
  if (!answer.ok) throw new HttpError(503, 'The password could not be changed now: ask for a new link');
  await deleteSessions(db, userId);
  const user = await findUser(db, userId);
  for (const { organizationId } of user === undefined ? [] : await listMemberships(db, userId)) {
    const target = user?.email ?? '';
    const actor = { kind: 'member' as const, id: userId, name: target };
    await recordAction(db, { organizationId, actor, action: 'password.reset', target });
  }
  response.redirect(303, `${SIGN_IN}?reason=reset`);
}

/** An unknown email gets the same response after the same time, which doesn't reveal who has an account. */
async function mailLink(context: DashboardContext, request: Request, response: Response): Promise<void> {
  const { sendMail, logger, db } = context;
  if (sendMail === undefined) throw new HttpError(404, 'This platform sends no mail: ask its operator for a link');
  const parsed = z.email().max(254).safeParse(fieldOf(request, 'email').trim());
  if (!parsed.success) throw new HttpError(400, 'Enter your email, such as ada@example.com');
  const email = parsed.data;
  const waitSeconds = await takeSignInAttempt(db, { email, address: request.ip ?? '' });
  if (waitSeconds > 0) throw new HttpError(429, `Too many attempts: try again in ${waitSeconds} seconds`);
  void createResetLink(db, { email, publicUrl: context.publicUrl() })
    .then(({ url }) =>
      sendMail({
        to: email,
        subject: 'A new password for Galley',
        text: `Set a new password here, once within an hour:\n\n${url}\n\nIf you did not ask for it, ignore this mail: your password stays.\n`,
      }),
    )
    .catch((error: unknown) => {
      if (!(error instanceof HttpError)) logger.error({ err: error }, 'The mail for a new password could not be sent');
    });
  response.redirect(303, `${SIGN_IN}?reason=mailed`);
}
