import { hash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { GalleyConfig } from '../contract/galley-config.ts';
import { HttpError } from '../contract/http-error.ts';
import type { DeliveryRecord } from '../contract/site-state.ts';
import type { createIntake } from './intake.ts';
import { bytesOf, parseJson } from './json-body.ts';
import type { ReceiverMetrics } from './metrics.ts';
import type { RecentDeliveries } from './recent-deliveries.ts';
import { type ConfiguredSource, configuredSources } from './sources/configured-source.ts';
import type { Reading, WebhookRequest } from './sources/source.ts';
import type { TurnAway } from './turn-away.ts';

/** A second delivery with the vendor's id within this time is a resend. */
const VENDOR_ID_DEDUPE_MS = 24 * 3_600_000;
/** For the metrics: a body that comes again within this time counts as repeated. The workflow decides by itself. */
const REPEATED_BODY_MS = 60_000;

export type ReceiverDeps = {
  find: FindSource;
  intake: ReturnType<typeof createIntake>;
  recent: RecentDeliveries;
  metrics: ReceiverMetrics;
  turnAway: TurnAway;
  now: () => Date;
};

/** Finds a source by the two names in a webhook's address. Throws HttpError 404 where one of them isn't configured. */
export type FindSource = (site: string, source: string) => ConfiguredSource;

/** The sources of every site. */
export function sourceFinder(config: GalleyConfig): FindSource {
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
export function createReceiver({ find, intake, recent, metrics, turnAway, now }: ReceiverDeps) {
  return async function receive(request: Request<{ site: string; source: string }>, response: Response): Promise<void> {
    const { site, source: sourceName } = request.params;
    const { source, secrets, dedupeMs, answer } = find(site, sourceName);
    const receivedAt = now();
    const webhook = asWebhookRequest(request);

    const verification = await source.verify(webhook, secrets, receivedAt);
    if (!verification.ok) {
      turnAway(response, verification.reason);
      throw new HttpError(401, 'the delivery could not be verified');
    }

    const { vendorId } = verification;
    const id = vendorId === null ? hashOf(verification.idFrom ?? webhook.body) : boundedId(vendorId);
    const reading = source.read(webhook, parseJson(webhook.body), { id, receivedAt });
    const labels = { site, source: sourceName };
    const delivery = {
      id,
      source: sourceName,
      receivedAt: receivedAt.toISOString(),
      ...(vendorId === null && dedupeMs === undefined
        ? { dedupeMs: 0, byBody: true }
        : { dedupeMs: dedupeMs ?? VENDOR_ID_DEDUPE_MS }),
    };
    const record = { id, source: sourceName, at: delivery.receivedAt, topic: topicOf(reading) };
    const repeatMs = 'byBody' in delivery ? REPEATED_BODY_MS : delivery.dedupeMs;
    const note = (each: DeliveryRecord) => recent.add(site, each, repeatMs);
    let accepted: string[] = [];
    try {
      if (reading.kind !== 'filtered') accepted = await intake(site, delivery, reading);
    } catch (error) {
      metrics.delivery({ ...labels, outcome: 'unavailable' });
      note({ ...record, outcome: 'verified', workflowId: null, why: answeredWith(error) });
      throw error;
    }
    const [workflowId] = accepted;
    if (workflowId === undefined) {
      note({ ...record, outcome: 'filtered', workflowId: null, why: whyNobody(reading) });
    } else if (note({ ...record, outcome: 'verified', workflowId }) === 'repeated') {
      metrics.repeat(labels);
    }
    metrics.delivery({ ...labels, outcome: workflowId === undefined ? 'filtered' : 'accepted' });
    // Node's own way to answer: a storm's 202s are most of what a receiver does, and Express's costs a tenth of them.
    const body = JSON.stringify({ deliveryId: id, accepted });
    const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(body) };
    response.writeHead(answer, headers).end(body);
  };
}

/** What the delivery is about, in the sender's own word where it has one. */
function topicOf(reading: Reading): string {
  switch (reading.kind) {
    case 'publish':
      return reading.event.topic;
    case 'filtered':
      return reading.topic;
    case 'pull-request':
    case 'review':
      return reading.kind;
  }
}

function whyNobody(reading: Reading): string {
  return reading.kind === 'filtered' ? reading.why : 'no agent change of this site waits for this pull request';
}

function answeredWith(error: unknown): string {
  const { status, message } = error instanceof HttpError ? error : { status: 500, message: 'internal error' };
  return `answered ${status}: ${message}`;
}

/** The request as a source sees it. */
export function asWebhookRequest(
  request: Pick<Request, 'method' | 'originalUrl' | 'headers' | 'body'>,
): WebhookRequest {
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

function hashOf(body: Buffer | string): string {
  return `sha256:${hash('sha256', body)}`;
}

/** Ids travel in signals a thousand at a time; one that is absurdly long is known by its hash. */
function boundedId(id: string): string {
  return id.length <= 128 ? id : hashOf(id);
}
