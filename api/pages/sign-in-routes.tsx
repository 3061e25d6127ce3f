import type { Request, Response, Router } from 'express';
import { equalInConstantTime } from '../../base/equal-in-constant-time.ts';
import { clientNetwork } from '../../base/ip-address.ts';
import { localPath, SIGN_IN, sameOriginOnly } from '../../web/access.ts';
import { clientAddress } from '../../web/client-address.ts';
import { HttpError } from '../../web/http-error.ts';
import { fieldOf, queryOf, readForm } from '../../web/request.ts';
import { sendPage } from '../../web/send-page.ts';
import type { LinkPerson } from '../../web/sign-in-links.ts';
import { createGuessing } from '../../web/slow-guesses.ts';
import { onlyMethods } from '../http-edge.ts';
import { operatorAccess } from '../operator-access.ts';
import { requireCsrf, requireOperator, sessionOf, setSession, signedOf } from './access.ts';
import { OPEN_DASHBOARD } from './layout.tsx';
import type { PagesDeps } from './pages-deps.ts';
import { operatorName, type Sessions } from './session.ts';
import { createSignInFailures } from './sign-in-failures.ts';
import { NoTokenPage, OperatorSignInPage } from './sign-in-page.tsx';

type SignInDeps = Pick<
  PagesDeps,
  'operatorToken' | 'signInLinks' | 'dashboard' | 'temporalUiUrl' | 'logger' | 'now' | 'wait'
> & {
  sessions: Sessions | undefined;
};

/** Where a sign-in may lead. */
const PAGES = /^\/ui\/(?!sign|open)/;
const DASHBOARD_PAGES = /^\/ui\/(?:exports|agents|projects)\//;

const NAME_EXPECTED = "Expected 1 to 60 letters, digits, spaces and . , ' @ + _ -";

/** The pages to sign in with the operator token or a one-time link, and to sign out. Commands request such links. */
export function addOperatorSignInRoutes(router: Router, deps: SignInDeps): void {
  const { sessions, operatorToken, signInLinks, logger } = deps;
  const signIn = createSignIn(deps);

  router
    .route(SIGN_IN)
    .get(async (request, response) => {
      const link = queryOf(request, 'link');
      const to = localPath(queryOf(request, 'to'), PAGES);
      if (sessions === undefined) await sendPage(request, response, <NoTokenPage />);
      else if (sessionOf(request, sessions) !== undefined) response.redirect(303, to);
      else if (link === '') await sendPage(request, response, <OperatorSignInPage to={to} />);
      else {
        const person = signInLinks?.find(link);
        const message = person ? undefined : 'This link was used or has expired. Sign in with the operator token.';
        const props = { to, message, name: person?.name ?? '', link: person && link };
        await sendPage(request, response, <OperatorSignInPage {...props} />);
      }
    })
    .post(sameOriginOnly, readForm, signIn)
    .all(onlyMethods('GET', 'HEAD', 'POST'));

  router
    .route('/ui/sign-in/links')
    .post(operatorAccess(operatorToken), (_request, response) => {
      if (signInLinks === undefined) throw new HttpError(404, 'this api has no links to sign in');
      response.status(201).json({ path: `${SIGN_IN}?link=${signInLinks.create()}` });
    })
    .all(onlyMethods('POST'));

  router
    .route('/ui/sign-out')
    .post(sameOriginOnly, requireOperator(sessions, deps), readForm, requireCsrf, (request, response) => {
      const { session } = signedOf(request);
      sessions?.end(session);
      setSession(request, response, undefined);
      logger.info({ operator: session.name }, 'An operator signed out');
      response.redirect(303, SIGN_IN);
    })
    .all(onlyMethods('POST'));
}

/** Leads an operator to the dashboard of the same `galley up`, signed in there as an owner. */
export function addDashboardLink(router: Router, { dashboard }: Pick<PagesDeps, 'dashboard'>): void {
  router
    .route(OPEN_DASHBOARD)
    .get((request, response) => {
      if (dashboard === undefined) throw new HttpError(404, 'there is no such page');
      const { owner: id, name } = signedOf(request).session;
      response.redirect(303, dashboard.open(localPath(queryOf(request, 'to'), DASHBOARD_PAGES), { id, name }));
    })
    .all(onlyMethods('GET', 'HEAD'));
}

/** Checks the name, then the link or the token, and starts a session. */
function createSignIn({ operatorToken, sessions, signInLinks, logger, now, wait }: SignInDeps) {
  const guess = createGuessing(createSignInFailures(now), wait);

  return async (request: Request, response: Response): Promise<void> => {
    if (sessions === undefined || operatorToken === undefined) throw new HttpError(403, 'OPERATOR_TOKEN is not set');
    const to = localPath(fieldOf(request, 'to'), PAGES);
    const link = fieldOf(request, 'link');
    const entered = fieldOf(request, 'name');
    const again = (status: number, problem: { nameError?: string; tokenError?: string; message?: string }) =>
      sendPage(
        request,
        response,
        <OperatorSignInPage to={to} name={entered} link={link === '' ? undefined : link} {...problem} />,
        status,
      );

    const name = operatorName.safeParse(entered);
    if (!name.success) return await again(400, { nameError: NAME_EXPECTED });
    const find = (): LinkPerson | undefined => {
      if (link !== '') return signInLinks?.use(link);
      return equalInConstantTime(fieldOf(request, 'token'), operatorToken) ? {} : undefined;
    };
    const address = clientAddress(request);
    const trusted = await guess(clientNetwork(address), async () => find());
    if (trusted === undefined) {
      logger.warn({ address, by: link === '' ? 'token' : 'link' }, 'A sign-in to the sites page failed');
      if (link !== '') return response.redirect(303, `${SIGN_IN}?link=used`);
      return await again(401, { tokenError: 'This is not the operator token' });
    }
    setSession(request, response, sessions.seal(sessions.start(name.data, trusted.id)));
    logger.info({ operator: name.data }, 'An operator signed in');
    response.redirect(303, to);
  };
}
