import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { createDeployment } from '../../deployment/deployment.ts';
import { buildBundle, sha256, siteOf } from './bundles.ts';
import { type Bench, openBench, type Running } from './harness.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(async () => {
  await bench.close();
});

/** An object store whose links expire when told to: `/{name}?token=…` answers 403 for tokens that were revoked. */
async function openStore() {
  const objects = new Map<string, Buffer>();
  const revoked = new Set<string>();
  const asked: string[] = [];
  let fault: number | undefined;
  const url = await bench.serve((req, res) => {
    const { pathname, search } = new URL(req.url ?? '', 'http://store');
    asked.push(pathname + search);
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
  return {
    url,
    asked,
    revoked,
    put: async (name: string, version: string) => {
      objects.set(name, await buildBundle(siteOf(version)));
    },
    putBytes: (name: string, bytes: Buffer) => objects.set(name, bytes),
    fail: (status: number | undefined) => {
      fault = status;
    },
  };
}

async function versionsOnDisk(): Promise<string[]> {
  return await readdir(join(bench.folder, 'home', 'versions'));
}

async function startServing(version: string, running?: Running): Promise<Running> {
  const started = running ?? (await bench.start());
  await started.until(`serving ${version}`, (status) => status.version === version && !status.stale);
  return started;
}

describe('the last good version goes on being served', () => {
  it('when the link has expired, also after a restart, until a fresh link comes', async () => {
    const store = await openStore();
    await store.put('1', '1');
    await store.put('2', '2');
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/1?token=a` });
    const first = await startServing('1');
    store.revoked.add('?token=b');
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/2?token=b` });
    const status = await first.until('refused', ({ lastError }) => lastError?.status === 403);
    expect(status).toMatchObject({ version: '1', stale: true });
    expect(status.nextTryAt).not.toBeNull();
    expect(await first.text('/')).toBe('<title>home 1</title>');
    await first.stop();

    const second = await bench.start();
    expect(await second.text('/')).toBe('<title>home 1</title>');
    await second.until('refused again', ({ lastError }) => lastError?.status === 403);
    expect(await second.text('/')).toBe('<title>home 1</title>');
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/2?token=c` });
    await startServing('2', second);
    expect(second.deployment.status().lastError).toBeNull();
  });

  it('when the archive is hostile, cut off or a sign-in page', async () => {
    const store = await openStore();
    await store.put('1', '1');
    const sound = await buildBundle(siteOf('2'));
    store.putBytes('cut', sound.subarray(0, sound.length - 20));
    store.putBytes('html', Buffer.from('<html>Sign in</html>'));
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/1` });
    const running = await startServing('1');
    for (const name of ['cut', 'html']) {
      await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/${name}` });
      await running.until(
        `refused ${name}`,
        ({ lastError, stale }) => stale && lastError?.message.includes('refused') === true,
      );
      expect(await running.text('/')).toBe('<title>home 1</title>');
      await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/1` });
      await startServing('1', running);
    }
    expect(await versionsOnDisk()).toHaveLength(1);
  });

  it('when the server is down, and the new one is fetched once it is back', async () => {
    const store = await openStore();
    await store.put('1', '1');
    await store.put('2', '2');
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/1` });
    const running = await startServing('1');
    store.fail(503);
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/2` });
    await running.until('failing', ({ lastError }) => lastError?.status === 503);
    const tries = store.asked.length;
    await running.until('trying again', () => store.asked.length > tries + 1);
    store.fail(undefined);
    await startServing('2', running);
  });

  it('when the values file becomes unreadable or is deleted, also after a restart', async () => {
    const store = await openStore();
    await store.put('1', '1');
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/1` });
    const first = await startServing('1');
    await writeFile(bench.valuesFile, 'staticExport: {enabled: "perhaps"}');
    const status = await first.until('reading nonsense', ({ lastError }) => lastError !== null);
    expect(status.lastError?.message).toContain('staticExport.enabled: expected true or false');
    expect(status).toMatchObject({ version: '1', stale: true, nextTryAt: null });
    await rm(bench.valuesFile);
    await first.until('missing it', ({ lastError }) => lastError?.message.includes('no such file') === true);
    await first.stop();
    const second = await bench.start();
    expect(await second.text('/')).toBe('<title>home 1</title>');
  });

  it('or an older one, where its folder was damaged, until it is fetched again', async () => {
    const store = await openStore();
    await store.put('1', '1');
    await store.put('2', '2');
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/1` });
    const first = await startServing('1');
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/2` });
    await startServing('2', first);
    await first.stop();
    const damaged = sha256(await buildBundle(siteOf('2')));
    await truncate(join(bench.folder, 'home', 'versions', damaged, 'index.html'), 3);
    store.fail(503);
    const second = await bench.start();
    expect(await second.text('/')).toBe('<title>home 1</title>');
    expect(second.deployment.status().stale).toBe(true);
    store.fail(undefined);
    await startServing('2', second);
    expect(await second.text('/')).toBe('<title>home 2</title>');
  });
});

describe('at the start', () => {
  it('a wrong values file is named by key when there is nothing to serve meanwhile', async () => {
    await writeFile(bench.valuesFile, 'staticExport: {enabled: true, bundleUrl: nonsense}');
    const deployment = createDeployment({
      valuesFile: bench.valuesFile,
      homeDir: join(bench.folder, 'home'),
      logger: pino({ level: 'silent' }),
    });
    await expect(deployment.start()).rejects.toMatchObject({
      name: 'ConfigurationError',
      problems: [expect.stringContaining('staticExport.bundleUrl: expected an http, https or file link')],
    });
  });

  it('a values file that is still to come is waited for', async () => {
    const store = await openStore();
    await store.put('1', '1');
    const running = await bench.start();
    const before = await fetch(running.url);
    expect([before.status, before.headers.get('retry-after')]).toEqual([503, '10']);
    expect((await fetch(`${running.url}/-/readyz`)).status).toBe(503);
    expect(running.deployment.status()).toMatchObject({ state: 'empty', version: null, stale: true });
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/1` });
    await startServing('1', running);
    expect((await fetch(`${running.url}/-/readyz`)).status).toBe(200);
  });

  it('the bundle is asked for again, but not sent again where its ETag is the same', async () => {
    const store = await openStore();
    await store.put('latest', '1');
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/latest` });
    const first = await startServing('1');
    await first.stop();
    const second = await bench.start();
    await second.until('checked', ({ checkedAt }) => checkedAt !== null);
    expect(store.asked).toEqual(['/latest', '/latest']);
    await second.stop();
    await store.put('latest', '2');
    await startServing('2', await bench.start());
  });

  it('leftovers of a killed process are removed', async () => {
    const versions = join(bench.folder, 'home', 'versions');
    await mkdir(join(versions, '.staging-abc', 'half'), { recursive: true });
    await bench.start();
    expect(await versionsOnDisk()).toEqual([]);
  });
});

describe('the values file', () => {
  it('may be a link that is switched to another folder, as a mounted ConfigMap is', async () => {
    const store = await openStore();
    for (const version of ['1', '2']) {
      await store.put(version, version);
      await mkdir(join(bench.folder, `data-${version}`));
      const values = { staticExport: { enabled: true, bundleUrl: `${store.url}/${version}` } };
      await writeFile(join(bench.folder, `data-${version}`, 'values.yaml'), JSON.stringify(values));
    }
    await symlink('data-1', join(bench.folder, 'data'));
    await symlink(join('data', 'values.yaml'), bench.valuesFile);
    const running = await startServing('1');
    await symlink('data-2', join(bench.folder, 'data-new'));
    await rename(join(bench.folder, 'data-new'), join(bench.folder, 'data'));
    await startServing('2', running);
  });

  it('switches serving off and on again without fetching anything', async () => {
    const store = await openStore();
    await store.put('1', '1');
    const link = `${store.url}/1`;
    await bench.writeValues({ enabled: true, bundleUrl: link });
    const first = await startServing('1');
    await bench.writeValues({ enabled: false, bundleUrl: link });
    await first.until('off', ({ state }) => state === 'off');
    const answer = await fetch(`${first.url}/guides/start`);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('switched off');
    expect((await fetch(`${first.url}/-/readyz`)).status).toBe(503);
    await first.stop();
    const second = await bench.start();
    expect((await fetch(second.url)).status).toBe(503);
    await bench.writeValues({ enabled: true, bundleUrl: link });
    await second.until('on', ({ state, stale }) => state === 'serving' && !stale);
    expect(await second.text('/')).toBe('<title>home 1</title>');
  });

  it('keeps what is served at the pinned version, and says why', async () => {
    const store = await openStore();
    await store.put('1', '1');
    await store.put('2', '2');
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/1`, version: '1' });
    const running = await startServing('1');
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/2`, version: '1' });
    const status = await running.until('held', ({ checkedAt, stale }) => checkedAt !== null && !stale);
    expect(status).toMatchObject({ version: '1', pinnedVersion: '1' });
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/2`, version: '3' });
    const held = await running.until('refused', ({ lastError }) => lastError !== null);
    expect(held).toMatchObject({ version: '1', pinnedVersion: '3', stale: true });
    expect(held.lastError?.message).toMatch(/pins "3".*is "2"/);
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/2`, version: '2' });
    await startServing('2', running);
  });

  it('goes back to a version that is still on the disk without its link', async () => {
    const store = await openStore();
    await store.put('1', '1');
    await store.put('2', '2');
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/1` });
    const running = await startServing('1');
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/2` });
    await startServing('2', running);
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/2`, version: '1' });
    await startServing('1', running);
    expect(await running.text('/')).toBe('<title>home 1</title>');
  });

  it('names a file, and a new archive under the old name is served too', async () => {
    const archive = join(bench.folder, 'bundle.tar.gz');
    await writeFile(archive, await buildBundle(siteOf('1')));
    await bench.writeValues({ enabled: true, bundleUrl: pathToFileURL(archive).href });
    const running = await startServing('1');
    await writeFile(`${archive}.new`, await buildBundle(siteOf('2')));
    await rename(`${archive}.new`, archive);
    await startServing('2', running);
  });
});

describe('a link whose path names the bytes', () => {
  it('to an archive that is no bundle is not downloaded twice', async () => {
    const store = await openStore();
    const bad = Buffer.from('not an archive');
    const name = createHash('sha256').update(bad).digest('hex');
    store.putBytes(name, bad);
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/${name}?token=1` });
    const running = await bench.start();
    const first = await running.until('refused', ({ lastError }) => lastError !== null);
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/${name}?token=2` });
    await running.until('refused again', ({ lastError }) => (lastError?.at ?? '') > (first.lastError?.at ?? ''));
    expect(store.asked).toHaveLength(1);
  });

  it('back to a version that is still on the disk fetches nothing', async () => {
    const store = await openStore();
    const names: string[] = [];
    for (const version of ['1', '2']) {
      const bytes = await buildBundle(siteOf(version));
      names.push(sha256(bytes));
      store.putBytes(sha256(bytes), bytes);
    }
    let running: Running | undefined;
    for (const [index, version] of [[0, '1'] as const, [1, '2'] as const, [0, '1'] as const]) {
      await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/${names[index]}?token=${Math.random()}` });
      running = await startServing(version, running);
    }
    expect(store.asked).toHaveLength(2);
  });
});

describe('a swap', () => {
  it('is never seen half-done, under requests without pause', async () => {
    const store = await openStore();
    const versions = ['1', '2', '3', '4', '5', '6'];
    for (const version of versions) await store.put(version, version);
    await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/1` });
    const running = await startServing('1');
    let done = false;
    const seen = new Set<string>();
    const visit = async (): Promise<void> => {
      let newest = 0;
      while (!done) {
        for (const path of ['/', '/guides/start', '/guides/', '/nothing']) {
          const answer = await fetch(running.url + path);
          const text = await answer.text();
          expect(answer.status).toBe(path === '/nothing' ? 404 : 200);
          const version = /<title>[a-z ]+ (\d)<\/title>$/.exec(text)?.[1] ?? 'none';
          expect(answer.headers.get('etag')).toBe(`"${sha256(text)}"`);
          expect(Number(version)).toBeGreaterThanOrEqual(newest);
          newest = Number(version);
          seen.add(version);
        }
      }
    };
    const visitors = Array.from({ length: 6 }, visit);
    for (const version of versions.slice(1)) {
      await bench.writeValues({ enabled: true, bundleUrl: `${store.url}/${version}` });
      await startServing(version, running);
    }
    done = true;
    await Promise.all(visitors);
    expect(seen.size).toBeGreaterThan(2);
    await running.until('tidied up', () => true);
    for (let left = await versionsOnDisk(); left.length > 3; left = await versionsOnDisk()) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  it('lets an answer under way finish on its old version, whose folder stays as long', async () => {
    const big = Buffer.alloc(30_000_000, 1);
    const archives = new Map([['/1', await buildBundle(siteOf('1', { 'big.bin': big }))]]);
    for (const version of ['2', '3', '4']) archives.set(`/${version}`, await buildBundle(siteOf(version)));
    const origin = await bench.serve((req, res) => res.end(archives.get(req.url ?? '')));
    await bench.writeValues({ enabled: true, bundleUrl: `${origin}/1` });
    const running = await bench.start({ keepPrevious: 0 });
    await startServing('1', running);
    const slow = await fetch(`${running.url}/big.bin`);
    for (const version of ['2', '3', '4']) {
      await bench.writeValues({ enabled: true, bundleUrl: `${origin}/${version}` });
      await startServing(version, running);
    }
    expect(await versionsOnDisk()).toContain(sha256(archives.get('/1') ?? ''));
    expect(sha256(Buffer.from(await slow.arrayBuffer()))).toBe(sha256(big));
    for (let left = await versionsOnDisk(); left.length > 1; left = await versionsOnDisk()) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  it('leaves pages that are open in a browser their hashed scripts, and nothing else of the old version', async () => {
    const archives = new Map([
      [
        '/1',
        await buildBundle(
          siteOf('1', { 'assets/a.DtHmvp7M.js': 'one', 'assets/b.DtHmvp7M.png': 'one', 'old.html': 'x' }),
        ),
      ],
      ['/2', await buildBundle(siteOf('2'))],
    ]);
    const origin = await bench.serve((req, res) => res.end(archives.get(req.url ?? '')));
    await bench.writeValues({ enabled: true, bundleUrl: `${origin}/1` });
    const first = await startServing('1');
    await bench.writeValues({ enabled: true, bundleUrl: `${origin}/2` });
    await startServing('2', first);
    await first.stop();
    const running = await startServing('2');
    expect(await running.text('/assets/a.DtHmvp7M.js')).toBe('one');
    for (const path of ['/assets/b.DtHmvp7M.png', '/old']) {
      expect((await fetch(running.url + path)).status).toBe(404);
    }
  });

  it('is not held up for ever by a download that the values file no longer asks for', async () => {
    const archive = await buildBundle(siteOf('2'));
    const origin = await bench.serve((req, res) => {
      if (req.url === '/2') res.end(archive);
      else res.writeHead(200, { 'content-length': 1000 }).write('x');
    });
    await bench.writeValues({ enabled: true, bundleUrl: `${origin}/stuck` });
    const running = await bench.start({ supersedeGraceMs: 100 });
    await running.until('downloading', ({ download }) => download !== null);
    await bench.writeValues({ enabled: true, bundleUrl: `${origin}/2` });
    await startServing('2', running);
  });

  it('does not break off a download when its link is refreshed', async () => {
    const archive = await buildBundle(siteOf('1'));
    const asked: string[] = [];
    let release: (() => void) | undefined;
    const origin = await bench.serve((req, res) => {
      asked.push(req.url ?? '');
      res.writeHead(200, { 'content-length': archive.length });
      res.write(archive.subarray(0, 100));
      release = () => res.end(archive.subarray(100));
    });
    const link = `${origin}/${sha256(archive)}`;
    await bench.writeValues({ enabled: true, bundleUrl: `${link}?token=1` });
    const running = await bench.start({ supersedeGraceMs: 1 });
    await running.until('downloading', ({ download }) => download !== null);
    await bench.writeValues({ enabled: true, bundleUrl: `${link}?token=2` });
    await new Promise((resolve) => setTimeout(resolve, 500));
    release?.();
    await startServing('1', running);
    expect(asked).toHaveLength(1);
  });
});
