import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { errorText } from '../../base/error-code.ts';
import { grpcCode } from '../../contract/grpc-code.ts';
import { SEARCH_ATTRIBUTES } from '../../contract/names.ts';

/** temporal.api.enums.v1.IndexedValueType. */
const KEYWORD = 2;
const DATETIME = 6;

const TYPES: Readonly<Record<string, number>> = {
  [SEARCH_ATTRIBUTES.site]: KEYWORD,
  [SEARCH_ATTRIBUTES.phase]: KEYWORD,
  [SEARCH_ATTRIBUTES.version]: KEYWORD,
  [SEARCH_ATTRIBUTES.pullRequest]: KEYWORD,
  [SEARCH_ATTRIBUTES.linkExpiresAt]: DATETIME,
};

/** gRPC codes for a service that is temporarily unreachable; only these are retried without limit. */
const AWAY: readonly number[] = [4 /* DEADLINE_EXCEEDED */, 14 /* UNAVAILABLE */];
/** Codes for a caller without permission, or a service without the feature. */
const REFUSED: readonly number[] = [7 /* PERMISSION_DENIED */, 12 /* UNIMPLEMENTED */, 16 /* UNAUTHENTICATED */];

const RETRY_MS = 2_000;
const CALL_DEADLINE_MS = 5_000;
/** A server propagates a new attribute within seconds. After this the worker starts without. */
const TIMEOUT_MS = 60_000;

export interface SearchAttributes {
  /** Whether the namespace accepts them now; the server rejects a start with an unknown one. */
  ready(): boolean;
  /** Resolves when they are usable, or when it is clear that they won't be. */
  settled: Promise<void>;
}

interface Namespace {
  client: Client;
  namespace: string;
  logger: Logger;
  signal: AbortSignal;
  /** How long to wait for a responding service to make them usable, in milliseconds. */
  timeoutMs?: number;
}

/**
 * Registers Galley's search attributes and polls until a query can use them. Runs in the background, also
 * while Temporal is unavailable. Without permission, attributes that an administrator added are used; if there are
 * none, it logs that once and Galley runs without.
 */
export function registerSearchAttributes(target: Namespace): SearchAttributes {
  const { client, namespace, logger, signal, timeoutMs = TIMEOUT_MS } = target;
  let usable = false;
  const run = async (): Promise<void> => {
    let respondedAtMs: number | undefined;
    while (!signal.aborted) {
      const { registering, using } = await attempt(client, namespace);
      if (using === undefined) {
        usable = true;
        return;
      }
      if (!isAway(using)) respondedAtMs ??= Date.now();
      const timedOut = respondedAtMs !== undefined && Date.now() - respondedAtMs >= timeoutMs;
      if (!isAway(using) && (isRefusal(registering) || isRefusal(using) || timedOut)) {
        giveUp(logger, registering ?? using);
        return;
      }
      await sleep(RETRY_MS, undefined, { signal });
    }
  };
  return { ready: () => usable, settled: run().catch(() => undefined) };
}

/** The errors of registering and of using them; undefined if none. */
async function attempt(client: Client, namespace: string): Promise<{ registering?: unknown; using?: unknown }> {
  const faultOf = (call: () => Promise<unknown>): Promise<unknown> =>
    client.withDeadline(Date.now() + CALL_DEADLINE_MS, call).then(
      () => undefined,
      (error: unknown) => error,
    );
  const registering = await faultOf(() => addMissing(client, namespace));
  const query = Object.keys(TYPES).map((name) => `${name} IS NULL`);
  const using = await faultOf(() => client.workflow.count(query.join(' AND ')));
  return { registering, using };
}

/** Whether the call failed because the service is temporarily unreachable. */
export function isAway(fault: unknown): boolean {
  return AWAY.includes(grpcCode(fault) ?? -1);
}

function isRefusal(fault: unknown): boolean {
  return REFUSED.includes(grpcCode(fault) ?? -1);
}

function giveUp(logger: Logger, fault: unknown): void {
  logger.warn(
    { attributes: Object.keys(TYPES), reason: errorText(fault) },
    'Search attributes can not be registered: running without them. An administrator can add them with ' +
      '`temporal operator search-attribute create`',
  );
}

async function addMissing(client: Client, namespace: string): Promise<void> {
  const { operatorService } = client.connection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(TYPES).filter(([name]) => customAttributes?.[name] === undefined);
  if (missing.length === 0) return;
  await operatorService.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(missing) });
}
