import pino from 'pino';
import { errorText } from '../../base/error-code.ts';
import { grpcCode } from '../../contract/grpc-code.ts';
import { SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import type { Settings } from '../../programs/settings/environment.ts';
import { createTemporal, type Temporal } from '../../programs/temporal/temporal.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const DEADLINE_MS = 5_000;
const CHECK = 'temporal';
const NOT_FOUND = 5;

/** The oldest server with everything that Galley uses: updates, user metadata, Worker Versioning. */
const OLDEST_SERVER = [1, 26] as const;

interface TemporalTarget {
  settings: Pick<Settings, 'variables' | 'encryptionKeys'>;
  /** The server of a running `up`. */
  embedded?: { address: string; namespace: string } | undefined;
}

/** Whether Temporal responds and has the namespace, its version, and whether it has Galley's search attributes. */
export async function checkTemporal({ settings, embedded }: TemporalTarget): Promise<Finding[]> {
  let temporal: Temporal;
  try {
    temporal = createTemporal({ settings, logger: pino({ level: 'silent' }), ...(embedded && { embedded }) });
  } catch (error) {
    return [fail(CHECK, `its settings can't be read: ${errorText(error)}`, 'Correct the variables TEMPORAL_….')];
  }
  try {
    return await ask(temporal);
  } finally {
    await temporal.close();
  }
}

async function ask({ client, namespace, address }: Temporal): Promise<Finding[]> {
  const call = async <T>(request: () => Promise<T>): Promise<T> =>
    await client.withDeadline(Date.now() + DEADLINE_MS, request);
  try {
    const { serverVersion } = await call(() => client.workflowService.getSystemInfo({}));
    await call(() => client.workflowService.describeNamespace({ namespace }));
    return [
      ok(CHECK, `${address} responds and has the namespace ${namespace}`),
      describeVersion(serverVersion ?? ''),
      await call(() => client.connection.operatorService.listSearchAttributes({ namespace })).then(
        ({ customAttributes }) => describeAttributes(Object.keys(customAttributes ?? {})),
        (error: unknown) =>
          warn('search-attributes', `can't be listed: ${errorText(error)}`, 'Allow this client to list them.'),
      ),
    ];
  } catch (error) {
    if (grpcCode(error) === NOT_FOUND) {
      const fix = `Create it with: temporal operator namespace create ${namespace}, or correct TEMPORAL_NAMESPACE.`;
      return [fail(CHECK, `${address} has no namespace ${namespace}`, fix)];
    }
    const fix = 'Check TEMPORAL_ADDRESS, TLS and the API key, and that the server runs.';
    return [fail(CHECK, `${address} does not respond (${reasonOf(error)})`, fix)];
  }
}

function describeVersion(version: string): Finding {
  const check = 'temporal-version';
  const [major, minor] = version.split('.').map(Number);
  if (major === undefined || minor === undefined || Number.isNaN(major + minor))
    return ok(check, version === '' ? 'not reported by the server' : version);
  const isOld = major < OLDEST_SERVER[0] || (major === OLDEST_SERVER[0] && minor < OLDEST_SERVER[1]);
  if (!isOld) return ok(check, version);
  return warn(check, `${version} is older than ${OLDEST_SERVER.join('.')}`, 'Upgrade the Temporal server.');
}

function describeAttributes(existing: readonly string[]): Finding {
  const check = 'search-attributes';
  const missing = Object.values(SEARCH_ATTRIBUTES).filter((name) => !existing.includes(name));
  if (missing.length === 0) return ok(check, `${Object.values(SEARCH_ATTRIBUTES).length} are registered`);
  return warn(
    check,
    `missing: ${missing.join(', ')}`,
    'galley api and galley worker add them at start. Without permission, an administrator adds them with: temporal operator search-attribute create',
  );
}

/** gRPC wraps the reason in sentences about its own state. */
function reasonOf(error: unknown): string {
  const text = errorText(error);
  return /Last error: (?:Error: )?(.+?)\. Resolution note/.exec(text)?.[1] ?? text;
}
