import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { CONTENT_CODINGS } from '../../../contract/content-coding.ts';
import {
  canCompress,
  compress,
  type SiblingPlan,
  withheldSiblings,
  withSiblings,
} from '../../../exporter/assemble/precompress.ts';

const text = Buffer.from('A page says much the same as the page before. '.repeat(50));
const both: SiblingPlan = { codings: ['br', 'gzip'], taken: new Set() };

async function pathsFor(contentType: string, bytes: Uint8Array, plan = both): Promise<string[]> {
  return (await withSiblings([{ path: 'a', bytes, contentType }], plan)).map(({ path }) => path);
}

describe('withSiblings', () => {
  it('puts each sibling right after its file, and its bytes decode to the file', async () => {
    const page = { path: 'x.html', bytes: text, contentType: 'text/html; charset=utf-8' };
    const picture = { path: 'y.png', bytes: text, contentType: 'image/png' };
    const made = await withSiblings([page, picture], both);
    expect(made.map(({ path, encoding }) => [path, encoding])).toEqual([
      ['x.html', undefined],
      ['x.html.br', 'br'],
      ['x.html.gz', 'gzip'],
      ['y.png', undefined],
    ]);
    expect(await promisify(brotliDecompress)(made[1]?.bytes ?? '')).toEqual(text);
    expect(await promisify(gunzip)(made[2]?.bytes ?? '')).toEqual(text);
    expect(await withSiblings([page, picture], both)).toEqual(made);
  });

  it.each([
    ...['text/css', 'image/svg+xml', 'application/json', 'application/manifest+json', 'application/wasm', 'font/ttf'],
  ])('compresses %s', async (contentType) => expect(await pathsFor(contentType, text)).toEqual(['a', 'a.br', 'a.gz']));

  it.each(['image/jpeg', 'font/woff2', 'application/zip', 'application/octet-stream', 'video/mp4', ''])(
    'skips "%s"',
    async (contentType) => expect(await pathsFor(contentType, text)).toEqual(['a']),
  );

  it('skips small files, and drops siblings that are not smaller', async () => {
    expect(await pathsFor('text/plain', text.subarray(0, 1024))).toEqual(['a']);
    expect(await pathsFor('text/plain', text.subarray(0, 1025))).toHaveLength(3);
    expect(await pathsFor('text/plain', randomBytes(5000))).toEqual(['a']);
  });

  it('skips names that the origin has as a file or folder, in any case, and reports them', async () => {
    const plan: SiblingPlan = { ...both, taken: new Set(['a.br']) };
    expect(await pathsFor('text/plain', text, plan)).toEqual(['a', 'a.gz']);
    expect(withheldSiblings([{ path: 'A' }, { path: 'b' }], plan)).toEqual(['A.br']);
    expect(withheldSiblings([{ path: 'A' }, { path: 'b' }], both)).toEqual([]);
  });
});

describe('compress', () => {
  it.each(CONTENT_CODINGS)('compresses with %s deterministically, or reports what it needs', async (coding) => {
    const compressing = compress(coding, text);
    if (!canCompress(coding)) {
      await expect(compressing).rejects.toThrow(`zstd needs Node 22.15 or newer, and this is ${process.version}`);
      return;
    }
    const bytes = await compressing;
    expect(bytes.length).toBeLessThan(text.length / 10);
    expect(await compress(coding, text)).toEqual(bytes);
  });
});
