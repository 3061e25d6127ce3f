import { buildBundle, sha256, siteOf } from './bundles.ts';
import { type Bench, openBench } from './harness.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(async () => {
  await bench.close();
});

describe('a deployment', () => {
  it('fetches the bundle of its values file and serves it', async () => {
    const archive = await buildBundle(siteOf('1'));
    const origin = await bench.serve((_req, res) => res.end(archive));
    await bench.writeValues({ enabled: true, bundleUrl: `${origin}/bundle.tar.gz?signature=secret` });
    const running = await bench.start();
    const status = await running.until('serving 1', ({ version }) => version === '1');
    expect(status).toMatchObject({ state: 'serving', domain: 'docs.example.com', pageCount: 4, stale: false });
    expect(status.lastError).toBeNull();
    expect(JSON.stringify(status)).not.toContain('secret');
    expect(await running.text('/')).toBe('<title>home 1</title>');
    expect(await running.text('/guides/start')).toBe('<title>start 1</title>');
    expect(await running.text('/guides/')).toBe('<title>guides 1</title>');
  });

  it('swaps without a restart when the values file names another bundle', async () => {
    const archives = new Map([
      ['/1', await buildBundle(siteOf('1'))],
      ['/2', await buildBundle(siteOf('2'))],
    ]);
    const origin = await bench.serve((req, res) => res.end(archives.get(req.url ?? '')));
    await bench.writeValues({ enabled: true, bundleUrl: `${origin}/1` });
    const running = await bench.start();
    await running.until('serving 1', ({ version }) => version === '1');
    await bench.writeValues({ enabled: true, bundleUrl: `${origin}/2` });
    await running.until('serving 2', ({ version }) => version === '2');
    expect(await running.text('/')).toBe('<title>home 2</title>');
  });

  it('downloads nothing again when a fresh link names bytes that it holds', async () => {
    const archive = await buildBundle(siteOf('1'));
    const asked: string[] = [];
    const origin = await bench.serve((req, res) => {
      asked.push(req.url ?? '');
      res.end(archive);
    });
    const link = `${origin}/bundles/${sha256(archive)}/bundle.tar.gz`;
    await bench.writeValues({ enabled: true, bundleUrl: `${link}?expires=1` });
    const first = await bench.start();
    await first.until('serving 1', ({ version }) => version === '1');
    const since = first.deployment.status().since;
    await bench.writeValues({ enabled: true, bundleUrl: `${link}?expires=2` });
    const checked = first.deployment.status().checkedAt ?? '';
    await first.until('checked again', (status) => (status.checkedAt ?? '') > checked && !status.stale);
    await first.stop();
    await bench.writeValues({ enabled: true, bundleUrl: `${link}?expires=3` });
    const second = await bench.start();
    const status = await second.until('checked after the restart', (each) => each.checkedAt !== null);
    expect(status).toMatchObject({ version: '1', stale: false, since });
    expect(asked).toHaveLength(1);
  });
});
