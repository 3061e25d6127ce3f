import { startStatus } from './status-endpoint.ts';
import { useSites } from './use-sites.ts';

const MINUTE_MS = 60_000;

// On a server that skips time, so that no deployment is late because the machine is busy.
const { startSite, server, closeLater } = useSites('time-skipping');

const sleep = (ms: number) => server().sleep(ms);

describe('a deployment whose statusUrl does not report the version in time', () => {
  it('is rolled back, and the next publish is deployed', async () => {
    const status = await startStatus(closeLater);
    status.serving.version = 'v1';
    const site = await startSite();
    const settings = { statusUrl: `${status.origin}/-/status`, confirmWithin: '10m', rollback: 'auto' };
    site.configure({ deployments: [{ valuesFile: site.valuesFile, ...settings }] });
    await site.publish();
    await sleep(MINUTE_MS);
    await site.until('live', ({ phase }) => phase === 'live');
    await site.publish();
    await sleep(15 * MINUTE_MS);
    const back = await site.until(
      'rolled back',
      ({ phase, lastError }) => phase === 'live' && lastError?.message.includes('rolled back') === true,
    );
    expect(back.version).toBe('v1');
    expect(back.withheld).toMatchObject({ version: 'v2' });
    expect(back.lastError?.message).toBe(
      `${site.valuesFile}: v2 was not served (${status.host} serves v1): rolled back to v1`,
    );
    expect(back.actions).toMatchObject([
      { actor: 'Galley', action: 'rollback', detail: `${site.valuesFile}: v1`, error: null },
    ]);
    status.serving.version = 'v3';
    await site.publish();
    await sleep(MINUTE_MS);
    expect(await site.until('live', ({ version, phase }) => phase === 'live' && version === 'v3')).toMatchObject({
      lastError: null,
      withheld: null,
    });
  });

  it('is failed without a rollback, and recovers once it serves the version', async () => {
    const status = await startStatus(closeLater);
    const site = await startSite();
    site.configure({
      deployments: [{ valuesFile: site.valuesFile, statusUrl: `${status.origin}/-/status`, confirmWithin: '10m' }],
    });
    status.serving.version = 'v0';
    await site.publish();
    await sleep(15 * MINUTE_MS);
    const late = await site.until('failed', ({ phase }) => phase === 'failed');
    expect(late).toMatchObject({
      version: 'v1',
      confirmed: false,
      deployments: [{ confirmed: false, state: 'failed' }],
    });
    expect(late.lastError?.message).toContain(`${status.host} serves v0`);
    await site.handle.executeUpdate('refreshNow');
    status.serving.version = 'v1';
    await sleep(60 * MINUTE_MS);
    expect(await site.until('live', ({ phase }) => phase === 'live')).toMatchObject({
      confirmed: true,
      lastError: null,
    });
  });
});
