import { hash } from 'node:crypto';
import type { Request, Response } from 'express';
import { HttpError } from '../web/http-error.ts';
import type { Dispatch, ReceivedDelivery } from './dispatch.ts';
import type { FilteredDeliveries } from './filtered-deliveries.ts';
import { type Arrival, arrivalOf, type LargeBodySlots, readDelivery } from './read-delivery.ts';
import { RejectedDelivery } from './reject.ts';
import type { Spool } from './spool.ts';
import type { ConfiguredSource, FindSource } from './webhooks/configured-source.ts';

/** Senders repeat a delivery that got a 503 within this time. */
const UNAVAILABLE_DEDUPE_MS = 3_600_000;

/** What became of a verified delivery. */
type DispatchOutcome = { kind: 'accepted'; workflowIds: readonly string[] } | { kind: 'failed'; error: unknown };

export type ReceiverDeps = {
  find: FindSource;
  slots: LargeBodySlots;
  /** Undefined: filtered deliveries aren't kept. */
  filtered: FilteredDeliveries | undefined;
  dispatch: Dispatch;
  /** Whether the same delivery got a 503 within this time, although a workflow may have it. */
  mayHaveArrived: (site: string, delivery: { source: string; id: string }, sinceMs: number) => boolean;
  /** Called once for each verified delivery, before the response. */
  onOutcome: (delivery: ReceivedDelivery, outcome: DispatchOutcome) => void;
  now: () => Date;
  /** Returns the `traceparent` of the request's span, if traces are on. */
  traceparent?: (() => string | undefined) | undefined;
};

export type Receiver = {
  /** Verifies the raw bytes of a delivery, parses them, dispatches the result to the workflows, and responds with 202. */
  receive: (request: Request<{ site: string; source: string }>, response: Response) => Promise<void>;
  /**
   * Verifies, parses and dispatches a filtered delivery that was kept, with today's settings. Resolves with false if there is
   * none. Throws HttpError 409 if it can't be verified any more or is filtered again.
   */
  runAgain: (site: string, id: string) => Promise<boolean>;
};

export function createReceiver(deps: ReceiverDeps): Receiver {
  const { find, filtered, dispatch, onOutcome, now } = deps;

  async function send(delivery: ReceivedDelivery): Promise<readonly string[]> {
    let workflowIds: readonly string[];
    try {
      workflowIds = await dispatch(delivery);
    } catch (error) {
      onOutcome(delivery, { kind: 'failed', error });
      throw error;
    }
    onOutcome(delivery, { kind: 'accepted', workflowIds });
    return workflowIds;
  }

  return {
    async receive(request, response) {
      const { site, source: name } = request.params;
      const source = find(site, name);
      const arrival = arrivalOf(request);
      const spool = filtered?.spool();
      try {
        const receivedAt = now();
        const { body, ...delivery } = await readVerified(deps, { site, name, source }, arrival, {
          verifiedAt: receivedAt,
          spool,
        });
        const workflowIds = await send(delivery);
        if (delivery.parsed.kind === 'filtered') {
          const { topic, why } = delivery.parsed;
          const { method, path, headers } = arrival;
          const about = { id: delivery.ref.id, source: name, at: receivedAt.toISOString(), topic, why };
          const kept = body ?? spool;
          if (kept !== undefined) filtered?.keep({ site, about, request: { method, path, headers } }, kept);
        }
        respond(response, source.answer, { deliveryId: delivery.ref.id, accepted: workflowIds });
      } finally {
        spool?.close();
      }
    },

    async runAgain(site, id) {
      const kept = await filtered?.find(site, id);
      if (kept === undefined) return false;
      const { about, request } = kept.delivery;
      const source = find(site, about.source);
      const arrival = arrivalOf({ ...request, stream: kept.body() });
      const delivery = await readVerified(deps, { site, name: about.source, source }, arrival, {
        verifiedAt: new Date(about.at),
      }).catch((error: unknown) => {
        if (!(error instanceof RejectedDelivery)) throw error;
        throw new HttpError(409, `the delivery can't be verified any more (${error.reason}): was the secret changed?`);
      });
      if (delivery.parsed.kind === 'filtered') {
        throw new HttpError(
          409,
          `the delivery is still filtered (${delivery.parsed.why}): \`galley sites export\` exports without it`,
        );
      }
      await send(delivery);
      filtered?.remove(site, id);
      return true;
    },
  };
}

/** Throws RejectedDelivery if it can't be verified. `verifiedAt` is the time to which signed times are compared. */
async function readVerified(
  { slots, mayHaveArrived, now, traceparent }: ReceiverDeps,
  { site, name, source }: { site: string; name: string; source: ConfiguredSource },
  arrival: Arrival,
  { verifiedAt, spool }: { verifiedAt: Date; spool?: Spool | undefined },
): Promise<ReceivedDelivery & { body: Buffer | null }> {
  const { verification, body, json } = await readDelivery(arrival, source, { slots, now: verifiedAt, spool });
  if (!verification.ok) throw new RejectedDelivery(verification.reason);
  const { vendorId, idFrom } = verification;
  const id = vendorId === null ? hashOf(idFrom ?? body ?? '') : boundedId(vendorId);
  const receivedAt = now();
  const parsed = source.parse({ body: json(), header: arrival.header, id, receivedAt });
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
  return { site, ref, parsed, body };
}

/** Uses Node's own response: Express's takes ten times as long, which counts in a burst of deliveries. */
function respond(response: Response, status: number, content: object): void {
  const body = JSON.stringify(content);
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(status, headers).end(body);
}

function hashOf(body: Buffer | string): string {
  return `sha256:${hash('sha256', body)}`;
}

/** A signal carries up to a thousand ids, so a very long one is replaced by its hash. */
function boundedId(id: string): string {
  return id.length <= 128 ? id : hashOf(id);
}
