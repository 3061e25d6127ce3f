import type { Request, RequestHandler, Response, Router } from 'express';
import type { VNode } from 'preact';
import { RejectedForm } from '../../ui/components/form.tsx';
import { HttpError } from '../../web/http-error.ts';
import { sendPage } from '../../web/send-page.ts';
import { addRoute } from '../api/add-route.ts';
import type { Role } from '../store/members.ts';
import { FORM, requireRole, type SignedMember, signedOf } from './access.ts';

/** Who may do what: owners manage members, developers the rest, reviewers read and review. */
export const EVERYONE: readonly Role[] = ['owner', 'developer', 'reviewer'];
export const MAKERS: readonly Role[] = ['owner', 'developer'];
export const OWNERS: readonly Role[] = ['owner'];

export type Show = (request: Request, signed: SignedMember, response: Response) => Promise<VNode>;
/** Returns the path to go on to: no page is the answer of a form, which a reload would send again. */
type Act = (request: Request, signed: SignedMember, response: Response) => Promise<string>;

type Asked = { show: Show; act: Act };

type PageRoute = {
  path: string;
  /** Who may see it. */
  roles?: readonly Role[];
  show?: Show;
  /** What its form does, and who may do it. */
  act?: Act;
  /** The page that has the form, if it isn't this one: it returns with the input if that is rejected. */
  form?: Show | undefined;
  actors?: readonly Role[];
};

/** One page: what GET shows and what POST does. Needs a session before it. */
export function addPage(
  router: Router,
  { path, roles = EVERYONE, show, act, form = show, actors = [] }: PageRoute,
): void {
  const get: RequestHandler | undefined =
    show &&
    (async (request, response) => {
      await sendPage(request, response, await show(request, signedOf(request), response));
    });
  const post: RequestHandler | undefined =
    act &&
    (async (request, response) => {
      const signed = signedOf(request);
      try {
        response.redirect(303, await act(request, signed, response));
      } catch (error) {
        if (form === undefined || !(error instanceof HttpError) || error.status >= 500) throw error;
        // Without that page, such as for an id that isn't there, the first error is the answer.
        const page = await form(request, signed, response).catch(() => Promise.reject(error));
        const { status, headers, message } = error;
        const entered = Object.fromEntries(new Map<string, string>(Object.entries(request.body ?? {})));
        const rejected = { action: request.path, entered, message };
        response.set(headers);
        const returned = <RejectedForm.Provider value={rejected}>{page}</RejectedForm.Provider>;
        await sendPage(request, response, returned, status);
      }
    });
  addRoute(router, path, {
    get: get && [requireRole(...roles), get],
    post: post && [...FORM, requireRole(...actors), post],
  });
}

/** An action that asks first: GET shows the question. */
export function addConfirmed(router: Router, path: string, roles: readonly Role[], { show, act }: Asked): void {
  addPage(router, { path, roles, show, actors: roles, act });
}

/** A form's action that has no page of its own. */
export function addAction(router: Router, path: string, actors: readonly Role[], act: Act, form?: Show): void {
  addPage(router, { path, actors, act, form });
}
