import { createHash } from 'node:crypto';
import type { ErrorRequestHandler, Request, Response } from 'express';
import type { Logger } from 'pino';
import type { GalleyConfig } from '../contract/galley-config.ts';
import { HttpError } from '../contract/http-error.ts';
import type { FilteredDeliveries } from './filtered-deliveries.ts';
import type { createIntake } from './intake.ts';
import { bytesOf, parseJson } from './json-body.ts';
import type { ReceiverMetrics } from './metrics.ts';
import { type ConfiguredSource, configuredSources } from './sources/configured-source.ts';
import type { WebhookRequest } from './sources/source.ts';

/** A resend within this counts once where the vendor numbers its deliveries… */
const VENDOR_ID_DEDUPE_MS = 24 * 3_600_000;
/** …and where only the body tells: no longer than vendors retry, because the same body may be a second publish. */
const BODY_HASH_DEDUPE_MS = 60_000;

export type ReceiverDeps = {
  config: GalleyConfig;
  intake: ReturnType<typeof createIntake>;
  filtered: FilteredDeliveries;
  metrics: ReceiverMetrics;
  logger: Logger;
  now: () => Date;
};

/** The sources of every site, found by the two names in a webhook's address. */
export function sourceFinder(config: GalleyConfig): (site: string, source: string) => ConfiguredSource {
  const bySite = new Map(
    Object.entries(config.sites).map(([site, { webhooks }]) => [site, configuredSources(webhooks)]),
  );
  return (site, source) => {
    const found = bySite.get(site)?.get(source);
    // Never 410, which would make Ghost delete its webhook, and the same answer for both names.
    if (found === undefined) throw new HttpError(404, 'no such site or source');
    return found;
  };
}

/** Answers one delivery: verify the raw bytes, parse, make it durable, 202. Nothing comes between. */
export function createReceiver({ config, intake, filtered, metrics, logger, now }: ReceiverDeps) {
  const find = sourceFinder(config);

  return async function receive(request: Request<{ site: string; source: string }>, response: Response): Promise<void> {
    const { site, source: sourceName } = request.params;
    const { source, secrets, dedupeMs } = find(site, sourceName);
    const receivedAt = now();
    const webhook = asWebhookRequest(request);

    const verification = await source.verify(webhook, secrets, receivedAt);
    if (!verification.ok) {
      metrics.reject({ source: sourceName, reason: verification.reason });
      const requestId = response.get('x-request-id');
      logger.warn({ site, source: sourceName, reason: verification.reason, requestId }, 'A delivery was not verified');
      throw new HttpError(401, 'the delivery could not be verified');
    }

    const { vendorId } = verification;
    const id = vendorId === null ? hashOf(webhook.body) : boundedId(vendorId);
    const reading = source.read(webhook, parseJson(webhook.body), { id, receivedAt });
    const labels = { site, source: sourceName };
    const delivery = {
      id,
      source: sourceName,
      receivedAt: receivedAt.toISOString(),
      dedupeMs: dedupeMs ?? (vendorId === null ? BODY_HASH_DEDUPE_MS : VENDOR_ID_DEDUPE_MS),
    };
    let accepted: string[] = [];
    try {
      if (reading.kind !== 'filtered') accepted = await intake(site, delivery, reading);
    } catch (error) {
      metrics.delivery({ ...labels, outcome: 'unavailable' });
      throw error;
    }
    if (accepted.length === 0) filtered.add(site, { id, source: sourceName, at: delivery.receivedAt });
    metrics.delivery({ ...labels, outcome: accepted.length === 0 ? 'filtered' : 'accepted' });
    response.status(202).json({ deliveryId: id, accepted });
  };
}

/** Counts what was turned away before or after the verification, which counts for itself. */
export function countRejects(metrics: ReceiverMetrics): ErrorRequestHandler {
  return (error: unknown, _request, _response, next) => {
    const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
    if (status !== 401 && status !== 503) metrics.reject({ source: 'any', reason: `status-${status ?? 500}` });
    next(error);
  };
}

function asWebhookRequest(request: Request): WebhookRequest {
  return {
    method: request.method,
    path: request.originalUrl.split('?')[0] ?? '',
    header: (name) => textOf(request.headers, name),
    body: bytesOf(request.body),
  };
}

/** Senders name headers themselves, so a name may be empty, inherited by every object or of one that is a list. */
function textOf(headers: Request['headers'], name: string): string | undefined {
  const key = name.toLowerCase();
  const value = Object.hasOwn(headers, key) ? headers[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}

function hashOf(body: Buffer): string {
  return `sha256:${createHash('sha256').update(body).digest('hex')}`;
}

/** Ids travel in signals a thousand at a time; one that is absurdly long is known by its hash. */
function boundedId(id: string): string {
  return id.length <= 128 ? id : hashOf(Buffer.from(id));
}
