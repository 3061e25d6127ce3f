import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExportedBundle, ExportRig } from '../../helpers/export-rig.ts';
import { startExportRig } from '../../helpers/export-rig.ts';
import { serveFiles, startHttpSite } from '../../helpers/http-site.ts';
import { createDatabase } from '../../helpers/test-database.ts';
import { CUT_ALWAYS, CUT_ONCE, cutSite, WHOLE_PAGE } from './hostile-origin/cut-pages.ts';
import { endlessSite } from './hostile-origin/endless-site.ts';
import { MALFORMED, MAX_FILE_BYTES, REQUEST_TIMEOUT_MS } from './hostile-origin/malformed.ts';
import { faultOf, ODD_PATHS } from './hostile-origin/odd-names.ts';
import { privateSpellings } from './hostile-origin/private-addresses.ts';
import { type RawSite, rawAnswer, startRawSite } from './hostile-origin/raw-site.ts';

const HOME = 'https://docs.example.com';
const MAX_BUFFERED_BYTES = 500_000;
/** A gigabyte of bomb, or a body held whole, would be far more. */
const MAX_GROWTH_BYTES = 400_000_000;

let rig: ExportRig;
let site: RawSite;

beforeAll(async () => {
  rig = await startExportRig(await createDatabase());
  site = await startRawSite();
  await rig.startWorker({
    maxBufferedBytes: MAX_BUFFERED_BYTES,
    maxFileBytes: MAX_FILE_BYTES,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    // A few tries of what fails softly are enough to see its end.
    maxAttempts: 1,
    maxUrls: 500,
    maxDepth: 25,
    maxQueryVariants: 8,
  });
});

afterEach(() => {
  site.requests.length = 0;
});

afterAll(async () => {
  await rig?.stop();
  await site?.close();
});

/** Bytes in the folder of the object store, whoever put them there. */
async function storedBytes(): Promise<number> {
  const folder = fileURLToPath(rig.addresses.objectStoreUrl);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(file.parentPath, file.name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function reasonOf({ report }: ExportedBundle, url: string): string | undefined {
  return report.brokenLinks.find((link) => link.url === url)?.reason;
}

describe('an origin that breaks the rules of HTTP', () => {
  let bundle: ExportedBundle;
  let growthBytes = 0;

  beforeAll(async () => {
    const images = MALFORMED.map(({ name }) => `<img src="/${name}">`).join('');
    const answers = new Map(MALFORMED.map(({ name, send }) => [`/${name}`, send]));
    site.setAnswer((socket, path) => {
      const send = answers.get(path);
      if (send !== undefined) send(socket);
      else socket.write(path === '/' ? rawAnswer(images) : rawAnswer('', { status: '404 Not Found' }));
    });
    const before = process.memoryUsage().rss;
    const timer = setInterval(() => {
      growthBytes = Math.max(growthBytes, process.memoryUsage().rss - before);
    }, 20);
    bundle = await rig.run({ origin: site.origin });
    clearInterval(timer);
  });

  it.each(MALFORMED.map((each) => [each.name, each] as const))('%s: ends as the report says', (name, malformed) => {
    const { outcome, maxSentBytes = Number.POSITIVE_INFINITY } = malformed;
    const reason = reasonOf(bundle, `${HOME}/${name}`);
    if ('reason' in outcome) expect(reason).toMatch(outcome.reason);
    else {
      expect(reason).toBeUndefined();
      const kept = [...bundle.files].filter(([path]) => path.startsWith(name));
      expect(kept.map(([, text]) => text)).toEqual([outcome.kept]);
    }
    expect(site.bytesSent(`/${name}`)).toBeLessThan(maxSentBytes);
  });

  it('costs little memory, and leaves nothing behind of what was cut', async () => {
    expect(growthBytes).toBeLessThan(MAX_GROWTH_BYTES);
    expect(await storedBytes()).toBeLessThan(MAX_BUFFERED_BYTES);
  });
});

describe('an origin that resets connections', () => {
  it('at every byte of a page loses nothing where it answers later, and is reported where it never does', async () => {
    site.setAnswer(cutSite());
    const bundle = await rig.run({ origin: site.origin });
    const pages = [...bundle.files].filter(([path]) => path.startsWith('once/'));
    expect(pages).toHaveLength(CUT_ONCE.length);
    expect(new Set(pages.map(([, text]) => text))).toEqual(new Set([WHOLE_PAGE]));
    const reasons = CUT_ALWAYS.map(({ path }) => reasonOf(bundle, `${HOME}${path}`) ?? 'none');
    expect(reasons.filter((reason) => !/other side closed|ECONNRESET|UND_ERR_SOCKET/.test(reason))).toEqual([]);
    expect(bundle.report.brokenLinks).toHaveLength(CUT_ALWAYS.length);
  });
});

describe('an origin with names that no file system likes', () => {
  it('is stored under names that all of them take, each page once and none outside', async () => {
    const absent = new Set(['/robots.txt', '/sitemap.xml', '/favicon.ico', '/404.html']);
    const links = ODD_PATHS.map((path) => `<a href="https://docs.example.com${path}">x</a>`).join('');
    site.setAnswer((socket, path) => {
      if (absent.has(path)) socket.write(rawAnswer('', { status: '404 Not Found' }));
      else socket.write(rawAnswer(path === '/' ? links : `<title>${path.replaceAll('&', '&amp;')}</title>`));
    });
    const { files, manifest } = await rig.run({ origin: site.origin });
    const asked = new Set(site.requests.filter((path) => !absent.has(path)));
    expect(asked.size).toBeGreaterThan(ODD_PATHS.length - 5);
    expect(manifest.pageCount).toBe(asked.size);
    const titles = [...files.values()].flatMap((text) => /<title>(\/.*)<\/title>/.exec(text)?.[1] ?? []);
    expect(new Set(titles)).toEqual(new Set([...asked].filter((path) => path !== '/')));
    const paths = [...files.keys()];
    expect(paths.flatMap((path) => faultOf(path) ?? [])).toEqual([]);
    expect(new Set(paths.map((path) => path.normalize('NFC').toLowerCase())).size).toBe(paths.length);
    // Nothing is both a file and a folder.
    expect(paths.filter((path) => paths.some((other) => other.startsWith(`${path}/`)))).toEqual([]);
  });
});

describe('an origin that leads to private addresses', () => {
  it('gets nobody there: by no spelling, no name and no redirect', async () => {
    const inside = await startHttpSite(serveFiles({ '/secret.png': 'secret' }));
    try {
      const spellings = privateSpellings(inside.port);
      const images = spellings.map((url, index) => `<img src="${url}"><img src="/to/${index}">`).join('');
      site.setAnswer((socket, path) => {
        const index = /^\/to\/(\d+)$/.exec(path)?.[1];
        const location = Buffer.from(spellings[Number(index)] ?? '').toString('latin1');
        if (path === '/') socket.write(rawAnswer(images));
        else if (index === undefined) socket.write(rawAnswer('', { status: '404 Not Found' }));
        else socket.write(rawAnswer('', { status: '302 Found', headers: [`Location: ${location}`] }));
      });
      const bundle = await rig.run({ origin: site.origin });
      expect(inside.requests).toEqual([]);
      const byRedirect = spellings.map((_, index) => reasonOf(bundle, `${HOME}/to/${index}`) ?? 'none');
      expect(byRedirect.filter((reason) => !/refused|redirects to/.test(reason))).toEqual([]);
      const direct = bundle.report.brokenLinks.filter(({ url }) => url.endsWith('/secret.png'));
      expect(direct.length).toBeGreaterThan(25);
      expect(direct.filter(({ reason }) => !reason.startsWith('refused: '))).toEqual([]);
      expect([...bundle.files.keys()].some((path) => path.startsWith('_external'))).toBe(false);
    } finally {
      await inside.close();
    }
  });
});

describe('an origin without an end', () => {
  it('is exported up to its bounds, each of which the report names with examples', async () => {
    site.setAnswer(endlessSite(new Date().getUTCFullYear()));
    const { row, report, manifest } = await rig.run({ origin: site.origin });
    expect(row.status).toBe('completed');
    expect(manifest.pageCount).toBeGreaterThan(200);
    const rules = new Map(report.leftOut.map((each) => [each.rule, each]));
    for (const rule of ['addresses', 'dates', 'depth', 'folders', 'queries', 'repeats']) {
      const { count = 0, examples = [] } = rules.get(rule) ?? {};
      expect([rule, count > 0 && examples.length > 0 && examples.length <= 10]).toEqual([rule, true]);
    }
    expect(report.counts.skippedPages).toBe(report.leftOut.reduce((sum, { count }) => sum + count, 0));
    expect(report.brokenLinks.find(({ url }) => url === `${HOME}/hop/0`)?.reason).toMatch(/more than 20 redirects/);
  });
});
