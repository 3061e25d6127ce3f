import type { BundleFile, BundleRedirect } from '../../../contract/bundle.ts';
import { createPathOrder, type ManifestHead, manifestText } from '../../../exporter/assemble/manifest.ts';
import { byPath } from '../../../exporter/assemble/pieces.ts';
import fc from '../../helpers/fast-check.ts';

const head: ManifestHead = {
  ...{ formatVersion: 1, jobId: 'se_1', domain: 'docs.example.com', version: '1', createdAt: '2026-01-01T00:00:00Z' },
  ...{ contentSha256: 'a'.repeat(64), pageCount: 3 },
};

async function textOf(pieces: readonly BundleFile[][], redirects: readonly BundleRedirect[]): Promise<string> {
  async function* files(): AsyncGenerator<BundleFile[]> {
    yield* pieces;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of manifestText(head, files(), redirects)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

describe('manifestText, written piece by piece', () => {
  it.each([
    { pieces: [], redirects: [] },
    { pieces: [[file('index.html')]], redirects: [{ from: '/a', to: '/b', status: 301 }] },
    {
      pieces: [[], [file('a"\n\u2028.html'), file('ä.html')], [], [{ ...file('z.html'), url: '/z?q=1' }]],
      redirects: [
        { from: '/a', to: '/b', status: 301 },
        { from: '/c', to: 'https://elsewhere.example/', status: 302 },
      ],
    },
  ])('equals the text of the whole manifest', async ({ pieces, redirects }) => {
    const whole = { ...head, files: pieces.flat(), redirects };
    expect(await textOf(pieces, redirects)).toBe(`${JSON.stringify(whole, null, 1)}\n`);
  });
});

function file(path: string, encoding?: string): BundleFile {
  const plain = { path, size: 1, sha256: 'a'.repeat(64), contentType: 'text/plain' };
  return encoding === undefined ? plain : { ...plain, encoding };
}

describe('createPathOrder', () => {
  it('sorts all files by path, however the archive is divided into pieces', () => {
    // Few characters, some of which sort before the dot, so that names between a file and its siblings are common.
    const names = fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', '-', '.', 'b'), minLength: 1, maxLength: 5 }));
    fc.assert(
      fc.property(names, fc.integer({ min: 1, max: 5 }), (paths, perBatch) => {
        const archived = paths
          .toSorted()
          .flatMap((path) => [file(path), file(`${path}.br`, 'br'), file(`${path}.gz`, 'gzip')]);
        const order = createPathOrder();
        const named: BundleFile[] = [];
        for (let at = 0; at < archived.length; at += perBatch)
          named.push(...order.next(archived.slice(at, at + perBatch)));
        named.push(...order.rest());
        expect(named).toEqual(archived.toSorted(byPath));
      }),
    );
  });
});
