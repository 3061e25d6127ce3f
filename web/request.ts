import express, { type Request, type RequestHandler } from 'express';

/** Forms have a few short fields. */
export const readForm: RequestHandler = express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 20 });

/** A field of the form that was read; empty if there is none. */
export function fieldOf(request: Request, name: string): string {
  const body: unknown = request.body;
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === 'string' ? value : '';
}

/** A parameter of the query; empty if there is none or several. */
export function queryOf(request: Request, name: string): string {
  const value = request.query[name];
  return typeof value === 'string' ? value : '';
}

/**
 * False for a form that another site's page sent: browsers say where a request comes from, by `Sec-Fetch-Site` or,
 * without HTTPS, by `Origin`.
 */
export function isSameOrigin(request: Request): boolean {
  const site = request.get('sec-fetch-site');
  return site === undefined ? hasOwnOrigin(request) : site === 'same-origin';
}

function hasOwnOrigin(request: Request): boolean {
  const origin = request.get('origin');
  // No browser leaves it out of a form's POST.
  if (origin === undefined) return true;
  const hosts = [request.get('host'), request.get('x-forwarded-host')];
  return URL.canParse(origin) && hosts.includes(new URL(origin).host);
}
