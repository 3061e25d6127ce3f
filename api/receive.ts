import { hash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { Dispatch, ReceivedDelivery } from './dispatch.ts';
import { bodyBytes, parseJson } from './json-body.ts';
import { RejectedDelivery } from './reject.ts';
import type { FindSource } from './webhooks/configured-source.ts';
import type { WebhookRequest } from './webhooks/source.ts';

/** Senders repeat a delivery that got a 503 within this time. */
const UNAVAILABLE_DEDUPE_MS = 3_600_000;

/** What became of a verified delivery. */
type DispatchOutcome = { kind: 'accepted'; workflowIds: readonly string[] } | { kind: 'failed'; error: unknown };

export type ReceiverDeps = {
  find: FindSource;
  dispatch: Dispatch;
  /** Whether the same delivery got a 503 within this time, although a workflow may have it. */
  mayHaveArrived: (site: string, delivery: { source: string; id: string }, sinceMs: number) => boolean;
  /** Called once for each verified delivery, before the response. */
  onOutcome: (delivery: ReceivedDelivery, outcome: DispatchOutcome) => void;
  now: () => Date;
  /** Returns the `traceparent` of the request's span, if traces are on. */
  traceparent?: (() => string | undefined) | undefined;
};

/** Verifies the raw bytes of a delivery, parses them, dispatches the result to the workflows, and responds with 202. */
export function createReceiver({ find, dispatch, mayHaveArrived, onOutcome, now, traceparent }: ReceiverDeps) {
  return async function receive(request: Request<{ site: string; source: string }>, response: Response): Promise<void> {
    const { site, source: name } = request.params;
    const source = find(site, name);
    const receivedAt = now();

    const webhook = asWebhookRequest(request);
    const verification = await source.verify(webhook, receivedAt);
    if (!verification.ok) throw new RejectedDelivery(verification.reason);

    const { vendorId, idFrom } = verification;
    const id = vendorId === null ? hashOf(idFrom ?? webhook.body) : boundedId(vendorId);
    const parsed = source.parse({ body: parseJson(webhook.body), header: webhook.header, id, receivedAt });

    const sinceMs = receivedAt.getTime() - UNAVAILABLE_DEDUPE_MS;
    const dedupe =
      vendorId === null && source.bodyDedupeMs === undefined
        ? { dedupeMs: mayHaveArrived(site, { source: name, id }, sinceMs) ? UNAVAILABLE_DEDUPE_MS : 0, byBody: true }
        : { dedupeMs: source.dedupeMs };
    const trace = traceparent?.();
    const ref = {
      ...{ id, source: name, receivedAt: receivedAt.toISOString(), ...dedupe },
      ...(trace !== undefined && { traceparent: trace }),
    };
    const delivery = { site, ref, parsed };
    let workflowIds: readonly string[];
    try {
      workflowIds = await dispatch(delivery);
    } catch (error) {
      onOutcome(delivery, { kind: 'failed', error });
      throw error;
    }
    onOutcome(delivery, { kind: 'accepted', workflowIds });
    respond(response, source.answer, { deliveryId: id, accepted: workflowIds });
  };
}

/** Uses Node's own response: Express's takes ten times as long, which counts in a burst of deliveries. */
function respond(response: Response, status: number, content: object): void {
  const body = JSON.stringify(content);
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(status, headers).end(body);
}

export function asWebhookRequest(
  request: Pick<Request, 'method' | 'originalUrl' | 'headers' | 'body'>,
): WebhookRequest {
  return {
    method: request.method,
    path: request.originalUrl.split('?')[0] ?? '',
    header: (name) => headerOf(request.headers, name),
    body: bodyBytes(request.body),
  };
}

/** Senders choose header names, so a name may be empty, inherited by every object, or that of a list. */
function headerOf(headers: Request['headers'], name: string): string | undefined {
  const key = name.toLowerCase();
  const value = Object.hasOwn(headers, key) ? headers[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}

function hashOf(body: Buffer | string): string {
  return `sha256:${hash('sha256', body)}`;
}

/** A signal carries up to a thousand ids, so a very long one is replaced by its hash. */
function boundedId(id: string): string {
  return id.length <= 128 ? id : hashOf(id);
}
