import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { SEARCH_ATTRIBUTES } from '../contract/names.ts';

/** Indexed value types by Temporal's protocol numbers (temporal.api.enums.v1.IndexedValueType). */
const KEYWORD = 2;
const DATETIME = 6;

const WANTED: Readonly<Record<string, number>> = {
  [SEARCH_ATTRIBUTES.site]: KEYWORD,
  [SEARCH_ATTRIBUTES.phase]: KEYWORD,
  [SEARCH_ATTRIBUTES.version]: KEYWORD,
  [SEARCH_ATTRIBUTES.pullRequest]: KEYWORD,
  [SEARCH_ATTRIBUTES.linkExpiresAt]: DATETIME,
};

/** A server takes some seconds from registering an attribute until a query may name it. */
const USABLE_WITHIN_MS = 30_000;
const PROBE_EVERY_MS = 500;

/**
 * Registers the search attributes of contract/names.ts where they are missing, and waits until they can be used.
 * Resolves with whether they can. Without the permission (or the service, or the time) the product runs without them:
 * that is logged once here and is no error.
 */
export async function prepareSearchAttributes(
  client: Client,
  logger: Logger,
  { withinMs = USABLE_WITHIN_MS }: { withinMs?: number } = {},
): Promise<boolean> {
  const { namespace } = client.options;
  try {
    const missing = await missingAttributes(client, namespace);
    if (Object.keys(missing).length > 0) await register(client, namespace, missing);
  } catch (error) {
    // Asking may be forbidden where using is not: the probe below decides.
    logger.debug({ error: messageOf(error) }, 'search attributes could not be registered');
  }
  const deadline = Date.now() + withinMs;
  for (;;) {
    const fault = await probe(client);
    if (fault === undefined) return true;
    if (!fault.mayPass || Date.now() + PROBE_EVERY_MS > deadline) {
      logger.warn(
        { error: fault.message, attributes: Object.keys(WANTED) },
        'going on without search attributes: they could not be registered or are not usable in this namespace',
      );
      return false;
    }
    await sleep(PROBE_EVERY_MS);
  }
}

async function missingAttributes(client: Client, namespace: string): Promise<Record<string, number>> {
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
  return Object.fromEntries(Object.entries(WANTED).filter(([name]) => customAttributes?.[name] === undefined));
}

async function register(client: Client, namespace: string, searchAttributes: Record<string, number>): Promise<void> {
  try {
    await client.connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    // Another worker that starts at the same moment was first.
    if (codeOf(error) !== ALREADY_EXISTS) throw error;
  }
}

/** A visibility query that names every attribute: it is refused until all of them are known. */
async function probe(client: Client): Promise<{ message: string; mayPass: boolean } | undefined> {
  const query = Object.keys(WANTED)
    .map((name) => `${name} IS NOT NULL`)
    .join(' OR ');
  try {
    await client.workflow.count(query);
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    return { message: messageOf(error), mayPass: code !== PERMISSION_DENIED && code !== UNIMPLEMENTED };
  }
}

/** gRPC status codes. */
const ALREADY_EXISTS = 6;
const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;

function codeOf(error: unknown): number | undefined {
  for (let current = error, depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth++) {
    const code: unknown = Reflect.get(current, 'code');
    if (typeof code === 'number') return code;
    current = Reflect.get(current, 'cause');
  }
  return undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
