import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { createDeployment } from '../../../deployment/deployment.ts';
import { watchValues } from '../../../deployment/values/watch-values.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { buildBundle, sha256, siteOf } from '../bundles.ts';
import { type Fixture, openFixture, type Running } from '../fixture.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

/** An object store that responds to `/{name}?token=…` with 403 if the token is revoked. */
async function openStore(...versions: string[]) {
  const objects = new Map<string, Buffer>();
  const revoked = new Set<string>();
  const requested: string[] = [];
  let fault: number | undefined;
  const url = await fixture.serve((req, res) => {
    const { pathname, search } = new URL(req.url ?? '', 'http://store');
    requested.push(pathname + search);
    const bytes = objects.get(pathname.slice(1));
    if (fault !== undefined) res.writeHead(fault).end();
    else if (revoked.has(search)) res.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    else if (bytes === undefined) res.writeHead(404).end();
    else {
      const etag = `"${sha256(bytes)}"`;
      res.setHeader('etag', etag);
      if (req.headers['if-none-match'] === etag) res.writeHead(304).end();
      else res.end(bytes);
    }
  });
  const put = async (name: string, version: string): Promise<void> => {
    objects.set(name, await buildBundle(siteOf(version)));
  };
  for (const version of versions) await put(version, version);
  return {
    url,
    requested,
    revoked,
    put,
    putBytes: (name: string, bytes: Buffer) => objects.set(name, bytes),
    fail: (status: number | undefined) => {
      fault = status;
    },
  };
}

async function versionsOnDisk(): Promise<string[]> {
  return await readdir(join(fixture.folder, 'home', 'versions'));
}

async function untilVersionsOnDisk(count: number): Promise<void> {
  await waitFor(async () => (await versionsOnDisk()).length === count, { describe: `kept ${count} versions` });
}

async function startServing(version: string, running?: Running): Promise<Running> {
  const started = running ?? (await fixture.start());
  await started.until(`serving ${version}`, (status) => status.version === version && !status.stale);
  return started;
}

/** Writes this bundle link, and optionally a pin, to the values file and waits until the version is served. */
async function deploy(bundleUrl: string, version: string, running?: Running, pin?: string): Promise<Running> {
  await fixture.writeValues({ enabled: true, bundleUrl, version: pin });
  return await startServing(version, running);
}

describe('a deployment', () => {
  it('downloads the bundle of its values file and serves it', async () => {
    const archive = await buildBundle(siteOf('1'));
    const origin = await fixture.serve((_req, res) => res.end(archive));
    const running = await deploy(`${origin}/bundle.tar.gz?signature=secret`, '1');
    const status = await running.status();
    expect(status).toMatchObject({ state: 'serving', domain: 'docs.example.com', pageCount: 4, stale: false });
    expect(status.lastError).toBeNull();
    expect(JSON.stringify(status)).not.toContain('secret');
    expect(await running.text('/')).toBe('<title>home 1</title>');
    expect(await running.text('/guides/start')).toBe('<title>start 1</title>');
    expect(await running.text('/guides/')).toBe('<title>guides 1</title>');
  });

  it('downloads nothing when a fresh link names a bundle that it already has', async () => {
    const archive = await buildBundle(siteOf('1'));
    const requested: string[] = [];
    const origin = await fixture.serve((req, res) => {
      requested.push(req.url ?? '');
      res.end(archive);
    });
    const link = `${origin}/bundles/${sha256(archive)}/bundle.tar.gz`;
    const first = await deploy(`${link}?expires=1`, '1');
    const { since, checkedAt } = first.deployment.status();
    await fixture.writeValues({ enabled: true, bundleUrl: `${link}?expires=2` });
    await first.until('checked again', (status) => status.checkedAt !== checkedAt && !status.stale);
    await first.stop();
    await fixture.writeValues({ enabled: true, bundleUrl: `${link}?expires=3` });
    const second = await fixture.start();
    const status = await second.until('checked after the restart', (each) => each.checkedAt !== null);
    expect(status).toMatchObject({ version: '1', stale: false, since });
    expect(requested).toHaveLength(1);
  });
});

describe('the deployment keeps serving the last good version', () => {
  it('when the link has expired, also after a restart, until it gets a fresh link', async () => {
    const store = await openStore('1', '2');
    const first = await deploy(`${store.url}/1?token=a`, '1');
    store.revoked.add('?token=b');
    await fixture.writeValues({ enabled: true, bundleUrl: `${store.url}/2?token=b` });
    const status = await first.until('refused', ({ lastError }) => lastError?.status === 403);
    expect(status).toMatchObject({ version: '1', stale: true });
    expect(status.nextTryAt).not.toBeNull();
    expect(await first.text('/')).toBe('<title>home 1</title>');
    await first.stop();

    const second = await fixture.start();
    expect(await second.text('/')).toBe('<title>home 1</title>');
    await second.until('refused again', ({ lastError }) => lastError?.status === 403);
    expect(await second.text('/')).toBe('<title>home 1</title>');
    await deploy(`${store.url}/2?token=c`, '2', second);
    expect(second.deployment.status().lastError).toBeNull();
  });

  it('when the archive is truncated or is a sign-in page', async () => {
    const store = await openStore('1');
    const valid = await buildBundle(siteOf('2'));
    store.putBytes('cut', valid.subarray(0, valid.length - 20));
    store.putBytes('html', Buffer.from('<html>Sign in</html>'));
    const running = await deploy(`${store.url}/1`, '1');
    for (const name of ['cut', 'html']) {
      await fixture.writeValues({ enabled: true, bundleUrl: `${store.url}/${name}` });
      await running.until(
        `refused ${name}`,
        ({ lastError, stale }) => stale && lastError?.message.includes('refused') === true,
      );
      expect(await running.text('/')).toBe('<title>home 1</title>');
      await deploy(`${store.url}/1`, '1', running);
    }
    expect(await versionsOnDisk()).toHaveLength(1);
  });

  it('when the values file becomes unreadable, empty or is deleted, also after a restart', async () => {
    const store = await openStore('1');
    const first = await deploy(`${store.url}/1`, '1');
    // As a whole: a look at a half written file would report another error.
    await writeFile(`${fixture.valuesFile}.new`, 'staticExport: {enabled: "perhaps"}');
    await rename(`${fixture.valuesFile}.new`, fixture.valuesFile);
    const status = await first.until('reported the invalid file', ({ lastError }) => lastError !== null);
    expect(status.lastError?.message).toContain('staticExport.enabled: expected true or false');
    expect(status).toMatchObject({ version: '1', stale: true, nextTryAt: null });
    await writeFile(fixture.valuesFile, '');
    await first.until('reported the empty file', ({ lastError }) => lastError?.message.includes('is empty') === true);
    expect(await first.text('/')).toBe('<title>home 1</title>');
    await rm(fixture.valuesFile);
    await first.until(
      'reported the missing file',
      ({ lastError }) => lastError?.message.includes('no such file') === true,
    );
    await first.stop();
    const second = await fixture.start();
    expect(await second.text('/')).toBe('<title>home 1</title>');
  });

  it('or an older one if its folder is damaged, until it has downloaded the bundle again', async () => {
    const store = await openStore('1', '2');
    const first = await deploy(`${store.url}/1`, '1');
    await deploy(`${store.url}/2`, '2', first);
    await first.stop();
    const damaged = sha256(await buildBundle(siteOf('2')));
    await truncate(join(fixture.folder, 'home', 'versions', damaged, 'index.html'), 3);
    store.fail(503);
    const second = await fixture.start();
    expect(await second.text('/')).toBe('<title>home 1</title>');
    expect(second.deployment.status().stale).toBe(true);
    store.fail(undefined);
    await startServing('2', second);
    expect(await second.text('/')).toBe('<title>home 2</title>');
  });
});

describe('at startup', () => {
  it('the deployment fails with the key of an invalid values file if it has nothing to serve', async () => {
    await writeFile(fixture.valuesFile, 'staticExport: {enabled: true, bundleUrl: nonsense}');
    const deployment = createDeployment({
      valuesFile: fixture.valuesFile,
      homeDir: join(fixture.folder, 'home'),
      logger: pino({ level: 'silent' }),
    });
    await expect(deployment.start()).rejects.toMatchObject({
      name: 'ConfigurationError',
      problems: [expect.stringContaining('staticExport.bundleUrl: expected an http, https or file link')],
    });
  });

  it('with exitOnInvalidValues false, the deployment reports an invalid values file and keeps watching it', async () => {
    const store = await openStore('1');
    await writeFile(fixture.valuesFile, 'staticExport: {enabled: perhaps}');
    const running = await fixture.start({ exitOnInvalidValues: false });
    const status = await running.until('reported the invalid file', ({ lastError }) => lastError !== null);
    expect(status).toMatchObject({ state: 'empty', stale: true });
    expect(status.lastError?.message).toBe(`${fixture.valuesFile}: staticExport.enabled: expected true or false`);
    expect((await fetch(running.url)).status).toBe(503);
    await deploy(`${store.url}/1`, '1', running);
    expect(running.deployment.status().lastError).toBeNull();
  });

  it('the deployment waits for a missing values file', async () => {
    const store = await openStore('1');
    const running = await fixture.start();
    const before = await fetch(running.url);
    expect([before.status, before.headers.get('retry-after')]).toEqual([503, '10']);
    expect((await fetch(`${running.url}/-/readyz`)).status).toBe(503);
    expect(running.deployment.status()).toMatchObject({ state: 'empty', version: null, stale: true });
    await deploy(`${store.url}/1`, '1', running);
    expect((await fetch(`${running.url}/-/readyz`)).status).toBe(200);
  });

  it('the deployment revalidates the bundle by its ETag', async () => {
    const store = await openStore();
    await store.put('latest', '1');
    const first = await deploy(`${store.url}/latest`, '1');
    await first.stop();
    const second = await fixture.start();
    await second.until('checked', ({ checkedAt }) => checkedAt !== null);
    expect(store.requested).toEqual(['/latest', '/latest']);
    await second.stop();
    await store.put('latest', '2');
    await startServing('2', await fixture.start());
  });

  it('the deployment removes leftovers of a killed process', async () => {
    const versions = join(fixture.folder, 'home', 'versions');
    await mkdir(join(versions, '.staging-abc', 'half'), { recursive: true });
    await fixture.start();
    expect(await versionsOnDisk()).toEqual([]);
  });
});

describe('the values file', () => {
  it('may be a symbolic link into another folder, like a mounted ConfigMap', async () => {
    const store = await openStore('1', '2');
    for (const version of ['1', '2']) {
      await mkdir(join(fixture.folder, `data-${version}`));
      const values = { staticExport: { enabled: true, bundleUrl: `${store.url}/${version}` } };
      await writeFile(join(fixture.folder, `data-${version}`, 'values.yaml'), JSON.stringify(values));
    }
    await symlink('data-1', join(fixture.folder, 'data'));
    await symlink(join('data', 'values.yaml'), fixture.valuesFile);
    const running = await startServing('1');
    await symlink('data-2', join(fixture.folder, 'data-new'));
    await rename(join(fixture.folder, 'data-new'), join(fixture.folder, 'data'));
    await startServing('2', running);
  });

  it('disables and enables serving without a download', async () => {
    const store = await openStore('1');
    const link = `${store.url}/1`;
    const first = await deploy(link, '1');
    await fixture.writeValues({ enabled: false, bundleUrl: link });
    await first.until('off', ({ state }) => state === 'off');
    const response = await fetch(`${first.url}/guides/start`);
    expect(response.status).toBe(503);
    expect(await response.text()).toContain('switched off');
    expect((await fetch(`${first.url}/-/readyz`)).status).toBe(503);
    await first.stop();
    const second = await fixture.start();
    expect((await fetch(second.url)).status).toBe(503);
    await fixture.writeValues({ enabled: true, bundleUrl: link });
    await second.until('on', ({ state, stale }) => state === 'serving' && !stale);
    expect(await second.text('/')).toBe('<title>home 1</title>');
  });

  it('keeps serving the pinned version and reports why', async () => {
    const store = await openStore('1', '2');
    const running = await deploy(`${store.url}/1`, '1', undefined, '1');
    await fixture.writeValues({ enabled: true, bundleUrl: `${store.url}/2`, version: '1' });
    const status = await running.until('held', ({ checkedAt, stale }) => checkedAt !== null && !stale);
    expect(status).toMatchObject({ version: '1', pinnedVersion: '1' });
    await fixture.writeValues({ enabled: true, bundleUrl: `${store.url}/2`, version: '3' });
    const held = await running.until('refused', ({ lastError }) => lastError !== null);
    expect(held).toMatchObject({ version: '1', pinnedVersion: '3', stale: true });
    expect(held.lastError?.message).toMatch(/pins "3".*is "2"/);
    await deploy(`${store.url}/2`, '2', running, '2');
  });

  it('can pin a version that is still on the disk without its link', async () => {
    const store = await openStore('1', '2');
    const running = await deploy(`${store.url}/1`, '1');
    await deploy(`${store.url}/2`, '2', running);
    await deploy(`${store.url}/2`, '1', running, '1');
    expect(await running.text('/')).toBe('<title>home 1</title>');
    // Without the pin, the same link leads to its own version again.
    await deploy(`${store.url}/2`, '2', running);
    expect(await running.text('/')).toBe('<title>home 2</title>');
  });

  it('is still watched after the listener throws, and the failed change is reported again', async () => {
    await fixture.writeValues({ enabled: false });
    const reported: unknown[] = [];
    const watch = await watchValues(fixture.valuesFile, 20, pino({ level: 'silent' }), (target) => {
      reported.push(target.kind === 'wanted' && target.wanted.enabled && target.wanted.version);
      if (reported.length === 1) throw new Error('unexpected failure');
    });
    try {
      const bundleUrl = 'http://127.0.0.1/1';
      await fixture.writeValues({ enabled: true, bundleUrl, version: '1' });
      await waitFor(() => reported.length === 2, { describe: 'reported the change again' });
      await fixture.writeValues({ enabled: true, bundleUrl, version: '2' });
      await waitFor(() => reported.length === 3, { describe: 'reported the next change' });
    } finally {
      watch.stop();
    }
    expect(reported).toEqual(['1', '1', '2']);
  });

  it('can name a local archive, and a replaced archive is served too', async () => {
    const archive = join(fixture.folder, 'bundle.tar.gz');
    await writeFile(archive, await buildBundle(siteOf('1')));
    const running = await deploy(pathToFileURL(archive).href, '1');
    await writeFile(`${archive}.new`, await buildBundle(siteOf('2')));
    await rename(`${archive}.new`, archive);
    await startServing('2', running);
  });
});

describe('a link whose path contains the sha256 of the bundle', () => {
  it('is not downloaded twice if the archive is invalid', async () => {
    const store = await openStore();
    const bad = Buffer.from('not an archive');
    const name = createHash('sha256').update(bad).digest('hex');
    store.putBytes(name, bad);
    await fixture.writeValues({ enabled: true, bundleUrl: `${store.url}/${name}?token=1` });
    const running = await fixture.start();
    const first = await running.until('refused', ({ lastError }) => lastError !== null);
    await fixture.writeValues({ enabled: true, bundleUrl: `${store.url}/${name}?token=2` });
    await running.until('refused again', ({ lastError }) => (lastError?.at ?? '') > (first.lastError?.at ?? ''));
    expect(store.requested).toHaveLength(1);
  });

  it('is not downloaded if its version is still on the disk', async () => {
    const store = await openStore();
    let running: Running | undefined;
    for (const [version, token] of [
      ['1', 'a'],
      ['2', 'b'],
      ['1', 'c'],
    ] as const) {
      const bytes = await buildBundle(siteOf(version));
      store.putBytes(sha256(bytes), bytes);
      running = await deploy(`${store.url}/${sha256(bytes)}?token=${token}`, version, running);
    }
    expect(store.requested).toHaveLength(2);
  });
});

describe('a swap', () => {
  it('is atomic for visitors that request pages without pause', async () => {
    const versions = ['1', '2', '3', '4', '5', '6'];
    const store = await openStore(...versions);
    const running = await deploy(`${store.url}/1`, '1');
    let done = false;
    const seen = new Set<string>();
    const visit = async (): Promise<void> => {
      let newest = 0;
      while (!done) {
        for (const path of ['/', '/guides/start', '/guides/', '/nothing']) {
          const response = await fetch(running.url + path);
          const text = await response.text();
          expect(response.status).toBe(path === '/nothing' ? 404 : 200);
          const version = /<title>[a-z ]+ (\d)<\/title>$/.exec(text)?.[1] ?? 'none';
          expect(response.headers.get('etag')).toBe(`"${sha256(text)}"`);
          expect(Number(version)).toBeGreaterThanOrEqual(newest);
          newest = Number(version);
          seen.add(version);
        }
      }
    };
    const visitors = Array.from({ length: 6 }, visit);
    for (const version of versions) {
      await deploy(`${store.url}/${version}`, version, running);
      await waitFor(() => seen.has(version), { describe: `served ${version} to a visitor` });
    }
    done = true;
    await Promise.all(visitors);
    await untilVersionsOnDisk(3);
  });

  it('lets a running response finish from the old version and removes its folder afterwards', async () => {
    const big = Buffer.alloc(30_000_000, 1);
    const store = await openStore('2', '3', '4');
    const archive = await buildBundle(siteOf('1', { 'big.bin': big }));
    store.putBytes('1', archive);
    await fixture.writeValues({ enabled: true, bundleUrl: `${store.url}/1` });
    const running = await fixture.start({ keepPrevious: 0 });
    await startServing('1', running);
    const slow = await fetch(`${running.url}/big.bin`);
    for (const version of ['2', '3', '4']) await deploy(`${store.url}/${version}`, version, running);
    expect(await versionsOnDisk()).toContain(sha256(archive));
    expect(sha256(Buffer.from(await slow.arrayBuffer()))).toBe(sha256(big));
    await untilVersionsOnDisk(1);
  });

  it('keeps assets of old versions for open pages, hashed ones longer, but no old pages', async () => {
    const store = await openStore('2', '3');
    const hashed = ['assets/a.DtHmvp7M.js', 'assets/b.DtHmvp7M.png', 'assets/c.DtHmvp7M.woff2', 'd.3f0c2a9b.json'];
    const unhashed = ['logo.png', 'data.json', 'body.woff2'];
    const pages = ['old.html', 'page-3f0c2a9b.html'];
    const files = Object.fromEntries([...hashed, ...unhashed, ...pages].map((path) => [path, 'one']));
    store.putBytes('1', await buildBundle(siteOf('1', files)));
    const first = await deploy(`${store.url}/1`, '1');
    await deploy(`${store.url}/2`, '2', first);
    await first.stop();

    const statuses = async (url: string, paths: readonly string[]): Promise<number[]> =>
      await Promise.all(paths.map(async (path) => (await fetch(`${url}/${path}`)).status));
    const late = await startServing('2', await fixture.start({ keepFilesMs: 0 }));
    expect(await statuses(late.url, [...hashed, ...unhashed])).toEqual([200, 200, 200, 200, 404, 404, 404]);
    await late.stop();
    const soon = await startServing('2');
    for (const path of [...hashed, ...unhashed]) expect([path, await soon.text(`/${path}`)]).toEqual([path, 'one']);
    expect(await statuses(soon.url, [...pages, 'old', 'page-3f0c2a9b'])).toEqual([404, 404, 404, 404]);
    await deploy(`${store.url}/3`, '3', soon);
    expect(await statuses(soon.url, [...hashed, ...unhashed])).toEqual([200, 200, 200, 200, 404, 404, 404]);
  });
});
