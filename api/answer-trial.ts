import type { RequestHandler } from 'express';
import { rawBody } from './json-body.ts';
import { asWebhookRequest, type FindSource } from './receive.ts';

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
/** What a sender tries an address with is one short field; nothing longer is read for it. */
const MAX_TRIAL_BYTES = 64;

/**
 * Answers 200 to the form that a sender tries the address out with, where its source knows of one: WooCommerce takes 200
 * only. Nobody signed it, so it tells nothing and nothing comes of it. Every other form goes on, to its 415.
 */
export function answerTrial(find: FindSource): RequestHandler<{ site: string; source: string }> {
  return (request, response, next) => {
    const { source } = find(request.params.site, request.params.source);
    const isShort = Number(request.get('content-length')) <= MAX_TRIAL_BYTES;
    if (source.isTrial === undefined || !FORM_TYPE.test(request.get('content-type') ?? '') || !isShort) {
      next();
      return;
    }
    rawBody(request, response, (error?: unknown) => {
      if (error !== undefined) next(error);
      else if (source.isTrial?.(asWebhookRequest(request))) response.json({ accepted: [] });
      else next();
    });
  };
}
