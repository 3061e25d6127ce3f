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

/** gRPC's code for a caller without the right to do this. */
const PERMISSION_DENIED = 7;

const RETRY_MS = 2_000;
const CALL_DEADLINE_MS = 5_000;

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
}

/**
 * Registers our search attributes and asks until a query can name them (design 19): servers take a while to hand a new
 * one to all their parts. Runs in the background, also while Temporal is away; without the permission it says so once.
 */
export function registerSearchAttributes(target: Namespace): SearchAttributes {
  let usable = false;
  const run = async (): Promise<void> => {
    while (!target.signal.aborted) {
      const outcome = await attempt(target);
      usable = outcome === 'usable';
      if (outcome !== 'later') return;
      await sleep(RETRY_MS, undefined, { signal: target.signal });
    }
  };
  return { ready: () => usable, settled: run().catch(() => undefined) };
}

async function attempt({ client, namespace, logger }: Namespace): Promise<'usable' | 'refused' | 'later'> {
  try {
    await client.withDeadline(Date.now() + CALL_DEADLINE_MS, async () => {
      await addMissing(client, namespace);
      const query = Object.keys(TYPES).map((name) => `${name} IS NULL`);
      await client.workflow.count(query.join(' AND '));
    });
    return 'usable';
  } catch (error) {
    if (grpcCode(error) !== PERMISSION_DENIED) return 'later';
    logger.warn(
      { attributes: Object.keys(TYPES), reason: errorText(error) },
      'Search attributes can not be registered without permission: running without them. An administrator can add them ' +
        'with `temporal operator search-attribute create`',
    );
    return 'refused';
  }
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
