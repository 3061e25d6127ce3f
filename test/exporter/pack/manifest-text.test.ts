import type { BundleFile, BundleRedirect } from '../../../contract/bundle.ts';
import { type ManifestHead, manifestText } from '../../../exporter/pack/manifest.ts';

const head: ManifestHead = {
  ...{ formatVersion: 1, jobId: 'se_1', domain: 'docs.example.com', version: '1', createdAt: '2026-01-01T00:00:00Z' },
  ...{ contentSha256: 'a'.repeat(64), pageCount: 3 },
};
const file = (path: string): BundleFile => ({ path, size: 3, sha256: 'b'.repeat(64), contentType: 'text/html' });

async function textOf(pieces: readonly BundleFile[][], redirects: readonly BundleRedirect[]): Promise<string> {
  async function* files(): AsyncGenerator<BundleFile[]> {
    yield* pieces;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of manifestText(head, files(), redirects)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

describe('the text of a manifest, written piece by piece', () => {
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
  ])('is what it would be in one piece', async ({ pieces, redirects }) => {
    const whole = { ...head, files: pieces.flat(), redirects };
    expect(await textOf(pieces, redirects)).toBe(`${JSON.stringify(whole, null, 1)}\n`);
  });
});
