import { type RawSite, rawAnswer, startRawSite } from '../../exporter/fetch/raw-site.ts';
import { type ExportRig, startExportRig } from '../../helpers/export-rig.ts';
import { serveFiles, startHttpSite } from '../../helpers/http-site.ts';
import { createDatabase } from '../../helpers/test-database.ts';
import { endlessSite } from './endless-site.ts';

const HOME = 'https://docs.example.com';

let fixture: ExportRig;
let site: RawSite;

beforeAll(async () => {
  fixture = await startExportRig(await createDatabase());
  site = await startRawSite();
  await fixture.startWorker({ maxAttempts: 1, maxUrls: 500, maxDepth: 25, maxQueryVariants: 8 });
});

afterAll(async () => {
  await fixture?.stop();
  await site?.close();
});

describe('a hostile origin', () => {
  it('cannot redirect to private addresses, in circles or to other protocols', async () => {
    const inside = await startHttpSite(serveFiles({ '/secret.png': 'secret' }));
    const targets: Record<string, [location: string, reason: RegExp]> = {
      '/to-private': [`${inside.origin}/secret.png`, /redirects to .*refused: .*not a public address/],
      '/to-name': [`http://localhost:${inside.port}/secret.png`, /redirects to .*refused: /],
      '/to-file': ['file:///etc/passwd', /redirects to file/],
      '/to-user': ['http://a:b@127.0.0.1/', /redirects to http:/],
      '/to-itself': ['/to-itself', /to itself/],
      '/to-a': ['/to-b', /more than 20 redirects/],
      '/to-b': ['/to-a', /more than 20 redirects/],
    };
    try {
      const images = [`${inside.origin}/secret.png`, ...Object.keys(targets)].map((url) => `<img src="${url}">`);
      site.setAnswer((socket, path) => {
        const location = targets[path]?.[0];
        if (path === '/') socket.write(rawAnswer(images.join('')));
        else if (location === undefined) socket.write(rawAnswer('', { status: '404 Not Found' }));
        else socket.write(rawAnswer('', { status: '302 Found', headers: [`Location: ${location}`] }));
      });
      const { report, files } = await fixture.run({ origin: site.origin });
      const reasons = new Map(report.brokenLinks.map(({ url, reason }) => [url, reason]));
      for (const [path, [, reason]] of Object.entries(targets)) expect(reasons.get(HOME + path)).toMatch(reason);
      expect(reasons.get(`${inside.origin}/secret.png`)).toMatch(/^refused: /);
      expect(inside.requests).toEqual([]);
      expect([...files.keys()].filter((path) => path.startsWith('_external'))).toEqual([]);
    } finally {
      await inside.close();
    }
  });

  it('is exported up to the limits if it is endless, and the report lists each limit with examples', async () => {
    site.setAnswer(endlessSite(new Date().getUTCFullYear()));
    const { row, report, manifest } = await fixture.run({ origin: site.origin });
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
