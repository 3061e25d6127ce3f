import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { SEARCH_ATTRIBUTES } from '../contract/names.ts';
import { errorText } from '../embedded/report.ts';

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

/** gRPC's codes for a service that can't be reached now: the only ones that are waited out for as long as it takes. */
const AWAY: readonly number[] = [4 /* DEADLINE_EXCEEDED */, 14 /* UNAVAILABLE */];
/** …and for a caller who will never be allowed to, or a service that doesn't have it. */
const REFUSED: readonly number[] = [7 /* PERMISSION_DENIED */, 12 /* UNIMPLEMENTED */, 16 /* UNAUTHENTICATED */];

const RETRY_MS = 2_000;
const CALL_DEADLINE_MS = 5_000;
/** A server hands a new attribute to all its parts within seconds. After this the worker starts without. */
const PATIENCE_MS = 60_000;

export interface SearchAttributes {
  /** Whether the namespace takes them now; a start that names an unknown one is refused by the server. */
  ready(): boolean;
  /** Resolves when they are usable, or when it is clear that they won't be. */
  settled: Promise<void>;
}

interface Namespace {
  client: Client;
  namespace: string;
  logger: Logger;
  signal: AbortSignal;
  /** How long a service that answers may leave them unusable, in milliseconds. */
  patienceMs?: number;
}

/**
 * Registers our search attributes and asks until a query can name them (design 19). Runs in the background, also while
 * Temporal is away. Who may not register them can still use those that an administrator added; where there are none
 * the product says so once and runs without.
 */
export function registerSearchAttributes(target: Namespace): SearchAttributes {
  const { client, namespace, logger, signal, patienceMs = PATIENCE_MS } = target;
  let usable = false;
  const run = async (): Promise<void> => {
    let answeredAtMs: number | undefined;
    while (!signal.aborted) {
      const { registering, using } = await attempt(client, namespace);
      if (using === undefined) {
        usable = true;
        return;
      }
      if (!isAway(using)) answeredAtMs ??= Date.now();
      const outOfPatience = answeredAtMs !== undefined && Date.now() - answeredAtMs >= patienceMs;
      if (!isAway(using) && (isRefusal(registering) || isRefusal(using) || outOfPatience)) {
        giveUp(logger, registering ?? using);
        return;
      }
      await sleep(RETRY_MS, undefined, { signal });
    }
  };
  return { ready: () => usable, settled: run().catch(() => undefined) };
}

/** What went wrong with registering and with using them, each undefined where nothing did. */
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

function isAway(fault: unknown): boolean {
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

/** A gRPC failure as the client wraps it: its code stands in the cause. */
function grpcCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'number' ? code : grpcCode(Reflect.get(error, 'cause'));
}
