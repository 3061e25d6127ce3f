import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { storeLargeMember } from '../../../exporter/assemble/rewrite-batch.ts';
import { createFileStore } from '../../../platform/objects/file-store.ts';

const ROW = {
  ...{ url: 'https://docs.example.com/film.mp4', path: 'film.mp4', contentType: 'video/mp4', isPage: false },
  ...{ objectKey: 'exports/se_1/large/a', byteOffset: 0, byteLength: 1_000_000, extractionLength: 0, sha256: '' },
  ...{ linksOffset: null, linksLength: null },
};

it('a canceled export stops archiving a large file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'galley-large-member-'));
  const objects = await createFileStore({ folder, now: Date.now });
  const source = new PassThrough();
  const stop = new AbortController();
  const options = { gzipLevel: 1, signal: stop.signal };
  const storing = storeLargeMember({ ...objects, get: async () => source }, 'exports/se_1/members/0-a', ROW, options);
  const failed = expect(storing).rejects.toMatchObject({ name: 'AbortError' });
  // The rest of the file never comes.
  source.write(Buffer.alloc(1_000));
  const closed = once(source, 'close');
  stop.abort();
  await failed;
  source.destroy();
  await closed;
  expect(await objects.head('exports/se_1/members/0-a')).toBeNull();
  await rm(folder, { recursive: true, force: true });
});
