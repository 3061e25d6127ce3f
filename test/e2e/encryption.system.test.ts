import { builtGalley } from '../helpers/system/built-product.ts';
import { OPERATOR_TOKEN } from '../helpers/system/orchestrator.ts';
import { runToEnd } from '../helpers/system/run-to-end.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { type SeedSystem, startSeedSystem } from '../helpers/system/seed-system.ts';
import { storedInTemporal } from '../helpers/system/stored-in-temporal.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const DOMAIN = 'sealed.example.test';
const TITLE = 'A confidential entry';

describe('GALLEY_ENCRYPTION_KEY', () => {
  let system: SeedSystem;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    system = await startSeedSystem({
      sites: [{ name: 'sealed', domain: DOMAIN, export: { quietPeriod: '100ms', maxWait: '1s' } }],
      adminApi: { linkTtlMs: 4_000, statusWords: ['queued', 'running', 'running'] },
      variables: {
        GALLEY_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
        TEMPORAL_NAMESPACE: 'handbooks',
        MIN_REFRESH_INTERVAL: '1s',
      },
    });
  });

  afterAll(() => system?.stop());

  scenario('hides links, titles and domains from Temporal, also in another namespace', async () => {
    system.adminApi.edit(DOMAIN, 'edition 1');
    expect((await system.publish('sealed', TITLE)).status).toBe(202);
    await system.untilServed('sealed', 'edition 1');
    await system.untilPhase('sealed', 'live');
    await waitFor(() => system.adminApi.bundles(DOMAIN) > 1, { describe: 'refreshed the link' });

    const stored = await storedInTemporal(system.temporal);
    expect(stored).toContain('export:sealed');
    expect(stored).toContain('binary/encrypted');
    expect(['/bundles/', TITLE, DOMAIN].filter((secret) => stored.includes(secret))).toEqual([]);
  });

  scenario('lets the operator see the status', async () => {
    const variables = { OPERATOR_TOKEN };
    const args = ['sites', 'status', 'sealed', '--url', system.url];
    expect(await runToEnd(await builtGalley(), args, variables)).toMatch(/^sealed: live\n(?: .*\n)* +link expires /);
  });
});
