import { pathToFileURL } from 'node:url';
import { createChangedTargets } from '../../../exporter/assemble/previous-pieces.ts';
import { ObjectMissingError } from '../../../exporter/export-failure.ts';
import { createLinkTables, encodeLinks } from '../../../exporter/reuse/link-tables.ts';
import { createObjectStore } from '../../../platform/objects/create-object-store.ts';
import type { ObjectStore } from '../../../platform/objects/object-store.ts';
import { emptiedFolder } from '../../helpers/temporary-folder.ts';

const URL_A = 'https://docs.example.com/a';
const table = encodeLinks([{ byteOffset: 0, resources: [{ kind: 'page', url: URL_A }] }]);
const place = { objectKey: 'segment', byteOffset: 0, extractionLength: 1, linksOffset: 0, linksLength: table.length };
const file = { ...place, url: 'u', path: 'p', contentType: 'text/html', isPage: true, byteLength: 1, sha256: '' };

const folder = emptiedFolder();
let objects: ObjectStore;

beforeEach(async () => {
  objects = await createObjectStore({ url: pathToFileURL(folder).href });
});

afterEach(async () => {
  await objects.close();
});

const write = (bytes: Buffer) => objects.put('segment', bytes, { contentType: 'application/octet-stream' });

describe('the link tables', () => {
  it('are read again after a failed read', async () => {
    const changed = createChangedTargets(new Set(['https://docs.example.com/b']), createLinkTables(objects));
    await expect(changed.concern(file)).rejects.toThrow(ObjectMissingError);
    await write(table);
    expect(await changed.concern(file)).toBe(false);
  });

  it.each([
    ['cut off', table.subarray(0, -2)],
    ['something else', Buffer.from('{}')],
  ])('count as missing if one is %s, and its file counts as changed', async (_what, bytes) => {
    await write(bytes);
    const links = createLinkTables(objects);
    expect(await links.of(place)).toBeUndefined();
    expect(await createChangedTargets(new Set(['https://docs.example.com/b']), links).concern(file)).toBe(true);
  });
});
