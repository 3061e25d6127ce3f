import type { Request, RequestHandler, Response } from 'express';
import { ForgeError } from '../../../forge/forge-error.ts';
import { GitError } from '../../../forge/git/git-error.ts';
import { ErrorPage } from '../../../ui/short-page.tsx';
import { HttpError } from '../../../web/http-error.ts';
import { retryAfter } from '../../../web/retry-after.ts';
import { PAGE_HEADERS, sendPage } from '../../../web/send-page.ts';

export const forgeHeaders: RequestHandler = (_request, response, next) => {
  response.set({ ...PAGE_HEADERS, Vary: 'Accept' });
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
      const back =
        isBelowPage && typeof id === 'string' ? { label: 'Back to the pull request', href: `../${id}` } : undefined;
      const { status, message, headers } = refusal;
      response.set(headers);
      await sendPage(request, response, <ErrorPage {...{ status, message, back }} />, status);
    }
  };
}

function toHttpError(error: unknown): unknown {
  if (error instanceof ForgeError) return new HttpError(error.status ?? (error.retryable ? 503 : 500), error.message);
  if (error instanceof GitError && error.retryable) {
    return new HttpError(503, 'The repository can not be read right now', retryAfter(5));
  }
  return error;
}
