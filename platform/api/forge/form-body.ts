import express, { type Request, type Response } from 'express';
import { z } from 'zod';
import { HttpError } from '../../../web/http-error.ts';
import { readJsonBody } from '../json-body.ts';
import { isForm } from './answers.tsx';

const MAX_FORM_BYTES = 256 * 1024;

const parse = express.urlencoded({ limit: MAX_FORM_BYTES, extended: false, parameterLimit: 20 });

const fields = z.record(z.string(), z.unknown());

type Sent = {
  /** The fields without the token. */
  body: Record<string, unknown>;
  /** The form's `token` field. The token is never taken from a URL or from JSON. */
  formToken: string | undefined;
  /** The form's `csrf` field: a member's page has it. */
  formCsrf?: string | undefined;
};

/** Parses a body: a page's form, JSON, or nothing. Throws an `HttpError`: 400 (malformed), 413, 415. */
export async function readSent(request: Request, response: Response): Promise<Sent> {
  if (!request.headers['content-type'] && !hasBody(request)) return { body: {}, formToken: undefined };
  if (!isForm(request.headers['content-type'] ?? '')) {
    const body = hasBody(request) ? fields.safeParse(await readJsonBody(request, response)).data : {};
    if (body === undefined) throw new HttpError(400, 'The body must be a JSON object');
    return { body, formToken: undefined };
  }
  await new Promise<void>((resolve, reject) => {
    parse(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  });
  const { token, csrf, ...body } = fields.safeParse(request.body).data ?? {};
  return { body, formToken: textOf(token)?.trim(), formCsrf: textOf(csrf) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function hasBody(request: Request): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}
