import type { IRouter, RequestHandler } from 'express';
import { HttpError } from '../../web/http-error.ts';

const METHODS = ['delete', 'get', 'patch', 'post'] as const;

type Handlers = { [Method in (typeof METHODS)[number]]?: RequestHandler | readonly RequestHandler[] | undefined };

/** Handles the methods of a path. Any other method is 405. */
export function addRoute(router: IRouter, path: string, handlers: Handlers): void {
  const route = router.route(path);
  const allowed: string[] = [];
  for (const method of METHODS) {
    const handler = handlers[method];
    if (handler === undefined) continue;
    route[method](...[handler].flat());
    allowed.push(...(method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
  }
  route.all(methodNotAllowed(allowed));
}

/** Answers the other methods of a known path. */
export function methodNotAllowed(allowed: readonly string[]): RequestHandler {
  const Allow = allowed.join(', ');
  return (request) => {
    throw new HttpError(405, `${request.method} is not possible here: ${Allow}`, { Allow });
  };
}
