import type { Request, RequestHandler, Response } from 'express';
import { ForgeError } from '../../../forge/forge-error.ts';
import { GitError } from '../../../forge/git/git-error.ts';
import { HttpError } from '../../../web/http-error.ts';
import { html } from './html.ts';
import { pageOf } from './page.ts';

/** Allows only the pages' own style and forms. */
const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "style-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
  Vary: 'Accept',
} as const;

export const forgeHeaders: RequestHandler = (_request, response, next) => {
  response.set(HEADERS);
  next();
};

/** Browsers get pages; requests that accept or send JSON get JSON. */
export function wantsPage(request: Request): boolean {
  return request.accepts(['html', 'json']) === 'html' && !/\bjson\b/i.test(request.headers['content-type'] ?? '');
}

/**
 * Whether to respond to a change or an error as browsers need it. A program without an `Accept` header gets JSON: an
 * error message and no redirect.
 */
export function isBrowser(request: Request): boolean {
  const { accept = '', 'content-type': sent = '' } = request.headers;
  return wantsPage(request) && (/\bhtml\b/i.test(accept) || isForm(sent));
}

/** The content type of the pages' forms. */
export function isForm(contentType: string): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(contentType);
}

type Handler = (request: Request, response: Response) => Promise<void>;

/** In a browser, an error is a page with a link back; otherwise it is rendered as usual. */
export function forgeHandler(handle: Handler): Handler {
  return async (request, response) => {
    try {
      await handle(request, response);
    } catch (error) {
      const refusal = toHttpError(error);
      if (!(refusal instanceof HttpError) || response.headersSent || !isBrowser(request)) throw refusal;
      const id = request.params.id;
      const isBelowPage = request.path.split('/').length > 3;
      const body = html`<h1>${refusal.status === 404 ? 'Not found' : 'That did not work'}</h1>
<p>${refusal.message}.</p>
${isBelowPage && typeof id === 'string' ? html`<p><a href="../${id}">Back to the pull request</a></p>` : null}`;
      const style = isBelowPage ? '../style.css' : 'style.css';
      const page = pageOf({ title: refusal.message, heading: html`<span>Error ${refusal.status}</span>`, style, body });
      response.status(refusal.status).set(refusal.headers).type('html').send(page);
    }
  };
}

function toHttpError(error: unknown): unknown {
  if (error instanceof ForgeError) return new HttpError(error.status ?? (error.retryable ? 503 : 500), error.message);
  if (error instanceof GitError && error.retryable) {
    return new HttpError(503, 'The repository can not be read right now', { 'Retry-After': '5' });
  }
  return error;
}
