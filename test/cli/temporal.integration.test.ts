import pino from 'pino';
import { registerSearchAttributes } from '../../cli/search-attributes.ts';
import { createTemporal, type Temporal } from '../../cli/temporal.ts';
import { SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import { type GuardedChild, spawnGuarded } from '../../embedded/guarded-child.ts';
import { locateDevServer } from '../../embedded/temporal/locate-dev-server.ts';
import { freePort } from '../helpers/free-port.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const logger = pino({ level: 'silent' });

let server: GuardedChild;
let address: string;
const opened: Temporal[] = [];

function open(variables: Record<string, string>): Temporal {
  const temporal = createTemporal({ settings: { variables, encryptionKey: undefined }, logger });
  opened.push(temporal);
  return temporal;
}

// A server as any other: without our search attributes, which the embedded one gets at its start.
beforeAll(async () => {
  const port = await freePort();
  address = `127.0.0.1:${port}`;
  const flags = ['--headless', '--ip', '127.0.0.1', '--port', String(port), '--namespace', 'docs'];
  server = spawnGuarded(
    await locateDevServer(),
    ['server', 'start-dev', '--log-level', 'error', ...flags],
    process.env,
  );
  const temporal = open({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'docs' });
  await waitFor(temporal.ready, { describe: 'answered' });
});

afterAll(async () => {
  await Promise.all(opened.map((temporal) => temporal.close()));
  await server.stop();
});

describe('the connection to Temporal', () => {
  test('follows the standard client variables', async () => {
    const temporal = open({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'docs' });
    expect({ address: temporal.address, namespace: temporal.namespace }).toEqual({ address, namespace: 'docs' });
    // It is asked with a short deadline, which a busy machine may miss.
    await waitFor(temporal.ready, { describe: 'was ready' });
    expect(await open({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'nowhere' }).ready()).toBe(false);
    expect(await open({ TEMPORAL_ADDRESS: '127.0.0.1:1' }).ready()).toBe(false);
  });

  test('lets a worker wait until it is told to stop', async () => {
    const stopping = new AbortController();
    const waiting = open({ TEMPORAL_ADDRESS: '127.0.0.1:1' }).connectWorker(stopping.signal);
    setTimeout(() => stopping.abort(), 300);
    await expect(waiting).rejects.toThrow();
  });

  test('registers the search attributes and says when a query can name them', async () => {
    const { client, namespace } = open({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'docs' });
    const { signal } = new AbortController();
    const attributes = registerSearchAttributes({ client, namespace, logger, signal });
    expect(attributes.ready()).toBe(false);
    await attributes.settled;
    expect(attributes.ready()).toBe(true);
    const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
    expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(Object.values(SEARCH_ATTRIBUTES)));
  });
});
