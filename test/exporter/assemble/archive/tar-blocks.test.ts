import { pack } from 'tar-stream';
import { END_BYTES, tarBlocks, tarHeader } from '../../../../exporter/assemble/archive/tar-blocks.ts';
import fc from '../../../helpers/fast-check.ts';

async function packed(entries: ReadonlyArray<{ path: string; bytes: Uint8Array }>): Promise<Buffer> {
  const tar = pack();
  for (const { path, bytes } of entries) tar.entry(tarHeader(path, bytes.byteLength), Buffer.from(bytes));
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks).subarray(0, -END_BYTES);
}

describe('tarBlocks', () => {
  const path = fc.oneof(
    fc.stringMatching(/^[a-z0-9 ._~-]{1,40}(\/[a-z0-9._-]{1,30}){0,3}$/),
    fc.stringMatching(/^[a-zäß/]{1,120}$/),
  );

  it('writes the same blocks as the tar library, for any names and sizes', async () => {
    const entry = fc.record({ path, bytes: fc.uint8Array({ maxLength: 2_000 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 4 }), async (entries) => {
        expect((await tarBlocks(entries)).equals(await packed(entries))).toBe(true);
      }),
    );
  });
});
