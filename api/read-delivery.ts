import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Request } from 'express';
import { parseJson, readBody } from './json-body.ts';
import { RejectedDelivery } from './reject.ts';
import type { Spool } from './spool.ts';
import { unavailable } from './unavailable.ts';
import type { ConfiguredSource } from './webhooks/configured-source.ts';
import { createJsonSelector } from './webhooks/select-json.ts';
import type { StreamVerifier, Verification, WebhookRequest } from './webhooks/source.ts';

/** A delivery whose body wasn't read yet: a request, or one that was kept. */
export type Arrival = Omit<WebhookRequest, 'body'> & { headers: IncomingHttpHeaders; stream: Readable };

/** `body` is null if it had more than 1 MiB; `json` throws HttpError 400. */
type ReadDelivery = { verification: Verification; body: Buffer | null; json: () => unknown };

/** Limits how many bodies of more than 1 MiB are read at the same time. */
export type LargeBodySlots = {
  /** Returns a function that frees the slot. Throws HttpError 503 if there is none. */
  take(): () => void;
};

export function createLargeBodySlots(most: number): LargeBodySlots {
  let taken = 0;
  return {
    take() {
      if (taken >= most) throw unavailable(`${most} large deliveries are being read: send this one again`);
      taken += 1;
      return () => {
        taken -= 1;
      };
    },
  };
}

/**
 * Reads and verifies a delivery. A body of more than 1 MiB, if its source allows one, is verified and parsed while it
 * arrives; `spool` gets its bytes.
 * @throws HttpError if the body can't be read, RejectedDelivery if a large one is rejected by its headers
 */
export async function readDelivery(
  { headers, stream, ...request }: Arrival,
  source: Pick<ConfiguredSource, 'verify' | 'large'>,
  { slots, now, spool }: { slots: LargeBodySlots; now: Date; spool: Spool | undefined },
): Promise<ReadDelivery> {
  const { large } = source;
  const selector = createJsonSelector(large?.fields ?? {});
  let verifier: StreamVerifier | undefined;
  let freeSlot: (() => void) | undefined;
  try {
    const body = await readBody(
      stream,
      headers,
      large && {
        maxBytes: large.maxBytes,
        begin() {
          const started = large.startVerifying(request, now);
          if ('reason' in started) throw new RejectedDelivery(started.reason);
          freeSlot = slots.take();
          verifier = started;
        },
        async write(chunk) {
          verifier?.update(chunk);
          selector.write(chunk);
          await spool?.write(chunk);
        },
      },
    );
    if (body !== null) {
      const verification = await source.verify({ ...request, body }, now);
      return { verification, body, json: () => parseJson(body) };
    }
    if (verifier === undefined) throw new Error('a large body was read without its verifier');
    return { verification: verifier.finish(), body, json: () => selector.end() };
  } finally {
    freeSlot?.();
  }
}

type Arrived = Request | { method: string; path: string; headers: IncomingHttpHeaders; stream: Readable };

export function arrivalOf(arrived: Arrived): Arrival {
  const { headers } = arrived;
  const header = (name: string) => headerOf(headers, name);
  if ('stream' in arrived) return { ...arrived, header };
  return { method: arrived.method, path: arrived.originalUrl.split('?')[0] ?? '', headers, header, stream: arrived };
}

/** Senders choose header names, so a name may be empty, inherited by every object, or that of a list. */
function headerOf(headers: IncomingMessage['headers'], name: string): string | undefined {
  const key = name.toLowerCase();
  const value = Object.hasOwn(headers, key) ? headers[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}
