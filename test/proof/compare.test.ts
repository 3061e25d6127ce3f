import { PNG } from 'pngjs';
import { bundleManifest } from '../../contract/bundle.ts';
import { createSite } from '../../deployment/site.ts';
import { comparePictures } from '../../proof/compare-pictures.ts';
import { compareVisits, hostsWithoutNetwork } from '../../proof/compare-visits.ts';
import { createIdentify } from '../../proof/identify-url.ts';
import type { Visit } from '../../proof/visit.ts';

const ORIGIN = 'http://127.0.0.1:8000';
const BUNDLE = 'http://127.0.0.1:9000';

const file = (path: string, url?: string) => ({
  ...{ path, size: 1, sha256: '0'.repeat(64), contentType: 'text/html' },
  ...(url !== undefined && { url }),
});
const manifest = bundleManifest.parse({
  ...{ formatVersion: 1, jobId: 'se_1', domain: 'docs.example.com', version: '1', pageCount: 3 },
  ...{ createdAt: '2026-01-01T00:00:00Z', contentSha256: '0'.repeat(64) },
  files: [file('index.html', '/'), file('a.html', '/a'), file('b.html', '/b'), file('_external/cdn.example/x.png')],
  redirects: [{ from: '/old', to: '/a', status: 301 }],
});
const identify = createIdentify(
  { domain: 'docs.example.com', origin: ORIGIN },
  createSite('/nowhere', '', manifest),
  BUNDLE,
);

const visit = (root: string, change: Partial<Visit> = {}): Visit => ({
  ...{ url: `${root}/`, text: '', links: [], images: [], hosts: new Set(), failedRequests: [], consoleErrors: [] },
  ...{ picture: Buffer.alloc(0), height: 800 },
  ...change,
});

function findings(origin: Partial<Visit>, bundle: Partial<Visit>, again?: Partial<Visit>): string[] {
  const visits = {
    origin: visit(ORIGIN, origin),
    again: again && visit(ORIGIN, again),
    bundle: visit(BUNDLE, bundle),
  };
  return compareVisits(visits, identify).map(({ kind, text }) => `${kind}: ${text}`);
}

const links = (...hrefs: string[]) => ({ links: hrefs.map((href) => ({ href, text: 'L' })) });

describe('a visit to the bundle, compared with one to the origin', () => {
  it('may differ in white space, and in words that differ between two visits to the origin', () => {
    expect(findings({ text: 'a b\n c' }, { text: ' ab c ' })).toEqual([]);
    expect(findings({ text: 'at 12:01 o’clock' }, { text: 'at 12:05 o’clock' }, { text: 'at 12:02 o’clock' })).toEqual(
      [],
    );
    expect(findings({ text: 'one two at 12:01' }, { text: 'one at 12:05' }, { text: 'one two at 12:02' })).toEqual([
      'text: lacks “two”',
    ]);
    expect(findings({ text: 'Größe' }, { text: 'GrÃ¶ÃŸe' })).toEqual(['text: “Größe” is “GrÃ¶ÃŸe”']);
  });

  it('has links with the same targets, whatever they are called there', () => {
    const origin = links(
      `${ORIGIN}/a`,
      'https://docs.example.com/old#x',
      `${ORIGIN}/gone`,
      'https://cdn.example/x.png',
    );
    const same = links(`${BUNDLE}/a.html`, `${BUNDLE}/a.html#x`, 'https://docs.example.com/gone');
    const external = `${BUNDLE}/_external/cdn.example/x.png`;
    expect(findings(origin, { links: [...same.links, { href: external, text: 'L' }] })).toEqual([]);
    expect(findings(links(`${ORIGIN}/a`), links(`${BUNDLE}/b.html`))).toEqual([
      'link: “L” leads to https://docs.example.com/b.html, not https://docs.example.com/a',
    ]);
    expect(findings(links(`${ORIGIN}/a`), links('https://docs.example.com/a'))).toEqual([
      'link: “L” leads to the origin, https://docs.example.com/a',
    ]);
    expect(findings(links(`${ORIGIN}/a`), links())).toEqual(['link: has 0 links, the origin 1']);
  });

  it('lacks other hosts only because it has no network, if the origin’s page needs them too', () => {
    const failedRequests = [`${BUNDLE}/x.css`, 'https://cdn.example/x.js', 'https://new.example/y.js'].map((url) => ({
      url,
      reason: 'net::ERR_TUNNEL_CONNECTION_FAILED',
    }));
    const origin = visit(ORIGIN, { hosts: new Set(['127.0.0.1:8000', 'cdn.example', 'docs.example.com']) });
    expect(hostsWithoutNetwork({ origin, bundle: visit(BUNDLE, { failedRequests }) }, identify)).toEqual([
      'cdn.example',
    ]);
  });

  it('has no failed request and no error that the origin lacks', () => {
    const failed = (url: string) => ({ failedRequests: [{ url, reason: 'HTTP 404' }] });
    expect(findings(failed(`${ORIGIN}/x.css`), failed(`${BUNDLE}/x.css?v=1`))).toEqual([]);
    expect(findings({}, failed(`${BUNDLE}/x.css`))).toEqual(['request: https://docs.example.com/x.css: HTTP 404']);
    const relative = ['https://cdn.example/x.js', 'http://cdn.example/x.js'].map(failed);
    expect(findings(...(relative as [Partial<Visit>, Partial<Visit>]))).toEqual([]);
    const error = (text: string) => ({ consoleErrors: [text] });
    const missing = { failedRequests: [{ url: `${ORIGIN}/x.css`, reason: 'HTTP 404' }] };
    const refused = error(`Refused to apply style from '${BUNDLE}/x.css' because its MIME type isn't supported`);
    expect(findings(missing, refused)).toEqual([]);
    expect(findings({}, refused)).toHaveLength(1);
    expect(findings(error(`No ${ORIGIN}/a.js:1`), error(`No ${BUNDLE}/a.js:22`))).toEqual([]);
    expect(findings(error('A'), error('B'))).toEqual(['console: B']);
  });

  it('has the same images in the same size', () => {
    const image = (src: string, width = 10) => ({ images: [{ src, width, height: 10 }] });
    expect(findings(image('https://cdn.example/x.png'), image(`${BUNDLE}/_external/cdn.example/x.png`))).toEqual([]);
    expect(findings(image(`${ORIGIN}/a`), image(`${BUNDLE}/a`, 20))).toEqual([
      'image: https://docs.example.com/a: 20×10 pixels, 10×10 at the origin',
    ]);
  });
});

/** A white picture with a black rectangle. */
function picture([left, top, width, height]: readonly [number, number, number, number], full = 320): Buffer {
  const png = new PNG({ width: 320, height: full });
  png.data.fill(255);
  for (let y = top; y < top + height; y += 1)
    for (let x = left; x < left + width; x += 1) png.data.set([0, 0, 0, 255], (y * 320 + x) * 4);
  return PNG.sync.write(png);
}

describe('pictures', () => {
  const none = picture([0, 0, 0, 0]);

  it('are equal, or differ in a share of the pixels', () => {
    expect(comparePictures(none, none, undefined)).toMatchObject({ differingShare: 0, maskedShare: 0 });
    const { differingShare, excerpt } = comparePictures(none, picture([0, 0, 32, 32]), undefined);
    expect(differingShare).toBeCloseTo(0.01, 3);
    expect(PNG.sync.read(excerpt?.bundle ?? none)).toMatchObject({ width: 320, height: 320 });
  });

  it('are masked where two visits to the origin differ', () => {
    const found = comparePictures(none, picture([0, 0, 30, 30]), picture([0, 0, 32, 32]));
    expect(found).toMatchObject({ differingShare: 0, maskedShare: 0.01 });
  });

  it('differ where only one of them goes on', () => {
    expect(comparePictures(picture([0, 0, 0, 0], 160), none, undefined).differingShare).toBe(0.5);
  });
});
