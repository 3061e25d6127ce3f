import type { BundleFile } from '../../../contract/bundle.ts';
import { byPath, createPathOrder } from '../../../exporter/pack/path-order.ts';
import fc from '../../helpers/fast-check.ts';

function file(path: string, encoding?: string): BundleFile {
  const plain = { path, size: 1, sha256: 'a'.repeat(64), contentType: 'text/plain' };
  return encoding === undefined ? plain : { ...plain, encoding };
}

describe('createPathOrder', () => {
  it('names all files by path, however the archive has them in pieces', () => {
    // Few characters, some of them before the dot, so that names between a file and its siblings are common.
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
