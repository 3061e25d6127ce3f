import type { ErrorRequestHandler, Request, Response } from 'express';
import type { ErrorBody, HttpError } from './http-error.ts';

type Refusal = Pick<HttpError, 'status' | 'message' | 'headers'>;

/**
 * Renders every error, by default as `{error}` with its status and headers.
 * @param toRefusal the response to an error: details of an unexpected one are only logged
 * @param send renders it as a page instead; the headers are set
 */
export function renderErrors({
  toRefusal,
  log,
  send = sendJson,
}: {
  toRefusal: (error: unknown) => Refusal;
  log: (error: unknown, refusal: Refusal, request: Request, response: Response) => void;
  send?: (refusal: Refusal, request: Request, response: Response) => void | Promise<void>;
}): ErrorRequestHandler {
  return async (error: unknown, request, response, next) => {
    // The response has begun: Express then breaks the connection, so that the client sees the failure.
    if (response.headersSent) return next(error);
    const refusal = toRefusal(error);
    log(error, refusal, request, response);
    response.set(refusal.headers);
    await send(refusal, request, response);
  };
}

function sendJson({ status, message }: Refusal, _request: Request, response: Response): void {
  const body: ErrorBody = { error: message };
  response.status(status).json(body);
}
