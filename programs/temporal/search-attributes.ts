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
/** What a query with an unknown attribute gets. */
const INVALID_ARGUMENT = 3;
/** Codes for a caller without permission, or a service without the feature. */
const REFUSED: readonly number[] = [7 /* PERMISSION_DENIED */, 12 /* UNIMPLEMENTED */, 16 /* UNAUTHENTICATED */];

const RETRY_MS = 2_000;
const CALL_DEADLINE_MS = 5_000;
/** A server propagates a new attribute within seconds. After this the worker starts without. */
const TIMEOUT_MS = 60_000;
/** How often to look whether they are still registered: Temporal may be restored without its data. */
const LOOK_EVERY_MS = 5_000;

export interface SearchAttributes {
  /** Whether the namespace accepted them when last asked; the server rejects a start with an unknown one. */
  ready(): boolean;
  /** Asks. False while they are being registered. */
  registered(): Promise<boolean>;
  /** Resolves when they are usable, or when it is clear that they won't be. */
  settled(): Promise<void>;
}

interface Namespace {
  client: Client;
  namespace: string;
  logger: Logger;
  signal: AbortSignal;
  /** How long to wait for a responding service to make them usable, in milliseconds. */
  timeoutMs?: number;
}

/** `without`: it took too long, and each look tries once more. `refused`: Galley runs without until it is restarted. */
type Status = 'registering' | 'usable' | 'without' | 'refused';

/**
 * Registers Galley's search attributes and polls until a query can use them. Runs in the background until `signal` is
 * aborted, also while Temporal is unavailable, and registers them again if Temporal has lost them. Without permission,
 * attributes that an administrator added are used; if there are none, it logs that once and Galley runs without.
 */
export function registerSearchAttributes(target: Namespace): SearchAttributes {
  const { client, namespace, logger, signal } = target;
  let status: Status = 'registering';
  let registering = register();

  async function register(): Promise<void> {
    status = 'registering';
    status = await untilSettled(target).catch((): Status => 'without');
  }

  async function look(): Promise<void> {
    if (status === 'without' && (await attempt(client, namespace)).using === undefined) status = 'usable';
    if (status !== 'usable' || !(await areLost(client, namespace)) || status !== 'usable') return;
    logger.warn('Temporal has lost the search attributes: registering them again');
    registering = register();
  }

  async function watch(): Promise<void> {
    for (;;) {
      await registering;
      await sleep(LOOK_EVERY_MS, undefined, { signal, ref: false });
      await look();
    }
  }

  watch().catch(() => undefined);
  return {
    ready: () => status === 'usable',
    async registered() {
      await look();
      return status !== 'registering';
    },
    async settled() {
      await look();
      await registering;
    },
  };
}

/** Rejects if `signal` is aborted. */
async function untilSettled({ client, namespace, logger, signal, timeoutMs = TIMEOUT_MS }: Namespace): Promise<Status> {
  let respondedAtMs: number | undefined;
  for (;;) {
    signal.throwIfAborted();
    const { registering, using } = await attempt(client, namespace);
    if (using === undefined) return 'usable';
    if (!isAway(using)) respondedAtMs ??= Date.now();
    const refused = isRefusal(registering) || isRefusal(using);
    const timedOut = respondedAtMs !== undefined && Date.now() - respondedAtMs >= timeoutMs;
    if (!isAway(using) && (refused || timedOut)) {
      giveUp(logger, registering ?? using);
      return refused ? 'refused' : 'without';
    }
    await sleep(RETRY_MS, undefined, { signal });
  }
}

/** The errors of registering and of using them; undefined if none. */
async function attempt(client: Client, namespace: string): Promise<{ registering?: unknown; using?: unknown }> {
  const registering = await faultOf(client, () => addMissing(client, namespace));
  return { registering, using: await faultOf(client, () => countWithAll(client)) };
}

/** False if Temporal doesn't respond. Lists first, because a count may take long in a namespace with many workflows. */
async function areLost(client: Client, namespace: string): Promise<boolean> {
  let isListed = false;
  const listing = await faultOf(client, async () => {
    isListed = (await listMissing(client, namespace)).length === 0;
  });
  if (isListed || isAway(listing)) return false;
  return grpcCode(await faultOf(client, () => countWithAll(client))) === INVALID_ARGUMENT;
}

async function faultOf(client: Client, call: () => Promise<unknown>): Promise<unknown> {
  return await client.withDeadline(Date.now() + CALL_DEADLINE_MS, call).then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function countWithAll(client: Client): Promise<void> {
  const query = Object.keys(TYPES).map((name) => `${name} IS NULL`);
  await client.workflow.count(query.join(' AND '));
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
  const missing = await listMissing(client, namespace);
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing);
  await client.connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
}

async function listMissing(client: Client, namespace: string): Promise<[string, number][]> {
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
  return Object.entries(TYPES).filter(([name]) => customAttributes?.[name] === undefined);
}
