import type { Request, RequestHandler, Response, Router } from 'express';
import type { VNode } from 'preact';
import { sendPage } from '../../web/send-page.ts';
import { addRoute } from '../api/add-route.ts';
import type { Role } from '../store/members.ts';
import { FORM, requireRole, type SignedMember, signedOf } from './access.ts';

/** Who may do what: owners manage members, developers the rest, reviewers read and review. */
export const EVERYONE: readonly Role[] = ['owner', 'developer', 'reviewer'];
export const MAKERS: readonly Role[] = ['owner', 'developer'];
export const OWNERS: readonly Role[] = ['owner'];

type Show = (request: Request, signed: SignedMember) => Promise<VNode>;
/** Returns the path to go on to, or a page to show. */
type Act = (request: Request, signed: SignedMember, response: Response) => Promise<string | VNode>;

type PageRoute = {
  path: string;
  /** Who may see it. */
  roles?: readonly Role[];
  show?: Show;
  /** What its form does, and who may do it. */
  act?: Act;
  actors?: readonly Role[];
};

/** One page: what GET shows and what POST does. Needs a session before it. */
export function addPage(router: Router, { path, roles = EVERYONE, show, act, actors = [] }: PageRoute): void {
  const get: RequestHandler | undefined =
    show &&
    (async (request, response) => {
      await sendPage(request, response, await show(request, signedOf(request)));
    });
  const post: RequestHandler | undefined =
    act &&
    (async (request, response) => {
      const next = await act(request, signedOf(request), response);
      if (typeof next === 'string') response.redirect(303, next);
      else await sendPage(request, response, next);
    });
  addRoute(router, path, {
    get: get && [requireRole(...roles), get],
    post: post && [...FORM, requireRole(...actors), post],
  });
}

/** A form's action that has no page of its own. */
export function addAction(router: Router, path: string, actors: readonly Role[], act: Act): void {
  addPage(router, { path, actors, act });
}
