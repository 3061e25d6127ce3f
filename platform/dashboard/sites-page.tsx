import { randomBytes } from 'node:crypto';
import type { Request, Response, Router } from 'express';
import { Button, Form } from '../../ui/components/form.tsx';
import { ShortPage } from '../../ui/short-page.tsx';
import { localPath, SIGN_IN, sameOriginOnly } from '../../web/access.ts';
import { clientAddress } from '../../web/client-address.ts';
import { HttpError } from '../../web/http-error.ts';
import { fieldOf, queryOf, readForm } from '../../web/request.ts';
import { sendPage } from '../../web/send-page.ts';
import type { Counterpart, LinkPerson, SignInLinks } from '../../web/sign-in-links.ts';
import { addRoute } from '../api/add-route.ts';
import { recordAction } from '../store/audit-log.ts';
import { findOwner } from '../store/members.ts';
import { asSession, copyCookies, findSigned, requireRole, signedOf } from './access.ts';
import { FRESH_MS } from './auth-settings.ts';
import type { DashboardContext } from './dashboard-context.ts';
import { createSetupUrl } from './first-administrator.ts';
import { OPEN_SITES } from './layout.tsx';

/** The sites page of the same `galley up`. Only owners of its organization may open it. */
export type SitesPage = Counterpart & {
  /** Links from there that sign in here. */
  links: SignInLinks;
  /** The organization of the orchestrator's key; undefined until there is one. */
  organizationId: () => string | undefined;
  /** Temporal's UI, if there is one. */
  temporal: { url: string; workflowUrl: (workflowId: string) => string } | undefined;
  /** The site with a domain, if there is one. */
  siteOf: (domain: string) => string | undefined;
  /** The id of a site's agent change that has a pull request; undefined also while that can't be known. */
  changeOf: (site: string, prLink: string) => Promise<string | undefined>;
  /** The URLs at which deployments of a domain serve an export now. */
  servedAt: (domain: string, jobId: string) => Promise<string[]>;
};

const OWNER_LINK = '/ui/sign-in/link';

/** Where links may lead. */
const HERE = /^\/ui\/(?!sign|auth|open)/;
const THERE = /^\/ui\/(?:sites|changes)\//;

/** Only leads a browser: forms may not, because their policy counts redirects, too. */
export function addSitesPage(router: Router, { sitesPage }: DashboardContext): void {
  addRoute(router, OPEN_SITES, {
    get: [
      requireRole('owner'),
      (request, response) => {
        const { user, sites } = signedOf(request);
        if (sitesPage === undefined || sites === undefined) throw new HttpError(404, 'There is no such page');
        response.redirect(303, sitesPage.open(localPath(queryOf(request, 'to'), THERE), user));
      },
    ],
  });
}

/**
 * Links from the sites page sign in the owner who came from here, otherwise the first one, once. Without any, they lead
 * to the first administrator's link.
 */
export function addOwnerLinks(router: Router, context: DashboardContext): void {
  addRoute(router, OWNER_LINK, {
    get: async (request, response) => {
      const to = localPath(queryOf(request, 'to'), HERE);
      if ((await findSigned(context, request)) !== undefined) return response.redirect(303, to);
      const link = queryOf(request, 'link');
      const person = context.sitesPage?.links.find(link);
      if (person === undefined) return response.redirect(303, `${SIGN_IN}?reason=link`);
      const owner = await ownerOf(context, person);
      if (owner === undefined) return await toSetup(context, response);
      await sendPage(request, response, <OwnerLinkPage email={owner.email} link={link} to={to} />);
    },
    post: [sameOriginOnly, readForm, (request, response) => signInOwner(context, request, response)],
  });
}

async function signInOwner(context: DashboardContext, request: Request, response: Response): Promise<void> {
  const { sitesPage, logger } = context;
  const address = clientAddress(request);
  const person = sitesPage?.links.use(fieldOf(request, 'link'));
  if (person === undefined) {
    logger.warn({ address }, 'A sign-in to the dashboard by a link failed');
    return response.redirect(303, `${SIGN_IN}?reason=link`);
  }
  const owner = await ownerOf(context, person);
  if (owner === undefined) return await toSetup(context, response);
  const auth = await context.auth();
  const { internalAdapter } = await auth.$context;
  // Who comes by a link has not proved to be the owner, as the account's page demands for a passkey.
  const session = { ipAddress: address, createdAt: new Date(Date.now() - FRESH_MS) };
  const { token: value } = await internalAdapter.createSession(owner.id, false, session, true);
  const token = randomBytes(32).toString('base64url');
  // Used at once: the plugin's own way to give a session that exists to a browser.
  const expiresAt = new Date(Date.now() + 60_000);
  await internalAdapter.createVerificationValue({ identifier: `one-time-token:${token}`, value, expiresAt });
  const answer = await auth.api.verifyOneTimeToken({ body: { token }, ...asSession(request) });
  if (!answer.ok) throw new HttpError(503, 'The session could not be started now');
  copyCookies(answer.headers, response);
  if (person.id === undefined) {
    const actor = { kind: 'operator' as const, id: 'sites-page', name: `operator token: ${person.name}` };
    const { organizationId, email: target } = owner;
    await recordAction(context.db, { organizationId, actor, action: 'session.link', target });
  }
  response.redirect(303, localPath(fieldOf(request, 'to'), HERE));
}

/** Whom a link signs in; undefined if there is no owner yet. Throws 403 for someone who no longer is one. */
async function ownerOf({ db, sitesPage }: DashboardContext, { id }: LinkPerson) {
  const organizationId = sitesPage?.organizationId();
  const owner = organizationId === undefined ? undefined : await findOwner(db, organizationId, id);
  if (owner === undefined && id !== undefined) throw new HttpError(403, 'You are no longer an owner here');
  return owner;
}

async function toSetup({ db, publicUrl }: DashboardContext, response: Response): Promise<void> {
  const url = await createSetupUrl(db, publicUrl());
  if (url === undefined) throw new HttpError(409, 'The organization of this Galley has no owner who could sign in');
  response.redirect(303, url);
}

function OwnerLinkPage({ email, link, to }: { email: string; link: string; to: string }) {
  return (
    <ShortPage title="Sign in">
      <p>You come from the sites page of the same Galley.</p>
      <Form action={OWNER_LINK} csrf="" fields={{ link, to }}>
        <Button variant="primary">{`Sign in as ${email}`}</Button>
      </Form>
    </ShortPage>
  );
}
