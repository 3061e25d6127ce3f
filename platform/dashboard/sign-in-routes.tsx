import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { localPath, SIGN_IN, sameOriginOnly } from '../../web/access.ts';
import { clientAddress } from '../../web/client-address.ts';
import { HttpError } from '../../web/http-error.ts';
import { fieldOf, queryOf, readForm } from '../../web/request.ts';
import { sendPage } from '../../web/send-page.ts';
import { addRoute } from '../api/add-route.ts';
import { recordAction } from '../store/audit-log.ts';
import { asSession, copyCookies, FORM, findSigned, requireMember, signedOf } from './access.ts';
import { EMAIL_NOT_VERIFIED, NOT_LINKED, OPENID, OPENID_FAILED } from './auth-settings.ts';
import { signInWithPassword } from './check-password.ts';
import type { DashboardContext } from './dashboard-context.ts';
import { keepDevice } from './device-cookie.ts';
import { MemberSignInPage, SignedInPage } from './sign-in-pages.tsx';

/** Where a sign-in may lead. */
const PAGES = /^\/(?:ui\/(?!sign|auth)|pulls\/)/;

const email = z.email().max(254);

/** The pages to sign in and out. */
export function addMemberSignInRoutes(router: Router, context: DashboardContext): void {
  addRoute(router, SIGN_IN, {
    get: async (request, response) => {
      const to = localPath(queryOf(request, 'to'), PAGES);
      if ((await findSigned(context, request)) !== undefined) response.redirect(303, to);
      else await sendPage(request, response, signInPage(context, { to, message: reasonOf(request) }));
    },
    post: [sameOriginOnly, readForm, (request, response) => signIn(context, request, response)],
  });
  addRoute(router, '/ui/sign-out', {
    post: [
      requireMember(context),
      ...FORM,
      async (request, response) => {
        const { caller, user } = signedOf(request);
        const answer = await (await context.auth()).api.signOut(asSession(request));
        copyCookies(answer.headers, response);
        await recordAction(context.db, { ...caller, action: 'session.sign-out', target: user.email });
        response.redirect(303, `${SIGN_IN}?reason=signed-out`);
      },
    ],
  });
  if (context.openId !== undefined) addOpenId(router, context);
}

const REASONS: Readonly<Record<string, string>> = {
  'signed-out': 'You are signed out.',
  link: 'The link was used or has expired: go back for a new one, or sign in here.',
  reset: 'The password was set: sign in with it.',
  mailed: 'If there is an account with this email, a link is on its way.',
  everywhere: 'You are signed out everywhere.',
  openid: 'Single sign-on did not work, or you have no invitation. Ask an owner of your organization.',
  [EMAIL_NOT_VERIFIED]:
    'Your single sign-on says that your email is not verified. Verify it there, then sign in again.',
  [NOT_LINKED]:
    'There is an account with your email, and your single sign-on does not say that the email is verified. Sign in with your password.',
};

function reasonOf(request: Request): string | undefined {
  // Better Auth adds why a sign-in by OpenID failed.
  const error = queryOf(request, 'error');
  const reason = error === EMAIL_NOT_VERIFIED || error === NOT_LINKED ? error : queryOf(request, 'reason');
  return Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined;
}

function signInPage(
  { openId }: DashboardContext,
  props: { to: string; email?: string; error?: string; message?: string | undefined },
) {
  return <MemberSignInPage {...props} hasOpenId={openId !== undefined} />;
}

async function signIn(context: DashboardContext, request: Request, response: Response): Promise<void> {
  const to = localPath(fieldOf(request, 'to'), PAGES);
  const entered = fieldOf(request, 'email').trim();
  const again = (status: number, error: string) =>
    sendPage(request, response, signInPage(context, { to, email: entered, error }), status);
  const parsed = email.safeParse(entered);
  if (!parsed.success) return again(400, 'Enter your email, such as ada@example.com.');
  const password = fieldOf(request, 'password').slice(0, 200);
  const answer = await signInWithPassword(context, request, { email: parsed.data, password });
  if (answer === undefined) {
    context.logger.warn({ address: clientAddress(request) }, 'A sign-in to the dashboard failed');
    return again(401, 'The email or the password is wrong.');
  }
  copyCookies(answer.headers, response);
  keepDevice(context, response, parsed.data);
  response.redirect(303, to);
}

/** A link, not a form: browsers apply `form-action` to redirects, too. */
function addOpenId(router: Router, context: DashboardContext): void {
  addRoute(router, '/ui/sign-in/openid', {
    get: async (request, response) => {
      const to = localPath(queryOf(request, 'to'), PAGES);
      const body = {
        provider: OPENID,
        disableRedirect: true,
        callbackURL: `/ui/sign-in/done?to=${encodeURIComponent(to)}`,
        errorCallbackURL: OPENID_FAILED,
      };
      const answer = await (await context.auth()).api.signInSocial({ body, ...asSession(request) });
      const parsed = z.object({ url: z.url() }).safeParse(await answer.json());
      if (!answer.ok || !parsed.success) throw new HttpError(503, 'The OpenID provider can not be reached');
      copyCookies(answer.headers, response);
      response.redirect(303, parsed.data.url);
    },
  });
  addRoute(router, '/ui/sign-in/done', {
    get: async (request, response) => {
      // Browsers send no strict cookie with a redirect that began at another site: this page begins a navigation here.
      const to = localPath(queryOf(request, 'to'), PAGES);
      response.set('Refresh', `0; url=${to}`);
      await sendPage(request, response, <SignedInPage to={to} />);
    },
  });
}
