import type { RequestHandler } from 'express';
import { readBody } from './json-body.ts';
import { arrivalOf } from './read-delivery.ts';
import type { FindSource } from './webhooks/configured-source.ts';

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
/** A ping is one short field; no longer form is read. */
const MAX_PING_BYTES = 64;

/**
 * Responds with 200 to the form by which a sender checks the URL, if its source knows one: WooCommerce accepts no other
 * status. The form is unsigned, so it starts nothing. Any other form goes on to its 415.
 */
export function answerPing(find: FindSource): RequestHandler<{ site: string; source: string }> {
  return async (request, response, next) => {
    const { isPing } = find(request.params.site, request.params.source);
    const isShort = Number(request.get('content-length')) <= MAX_PING_BYTES;
    if (isPing === undefined || !FORM_TYPE.test(request.get('content-type') ?? '') || !isShort) {
      next();
      return;
    }
    const body = (await readBody(request, request.headers)) ?? Buffer.alloc(0);
    const { method, path, header } = arrivalOf(request);
    if (isPing({ method, path, header, body })) response.json({ accepted: [] });
    else next();
  };
}
