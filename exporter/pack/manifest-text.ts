import type { BundleFile, BundleManifest, BundleRedirect } from '../../contract/bundle.ts';

/** A manifest's own fields, without those that grow with the site. */
export type ManifestHead = Omit<BundleManifest, 'files' | 'redirects'>;

/** An element of a list in the manifest's format. */
function element(value: BundleFile | BundleRedirect): string {
  return `  ${JSON.stringify(value, null, 1).replaceAll('\n', '\n  ')}`;
}

async function* list(name: string, pieces: AsyncIterable<ReadonlyArray<BundleFile | BundleRedirect>>) {
  let isFirst = true;
  for await (const piece of pieces) {
    if (piece.length === 0) continue;
    yield `${isFirst ? `,\n "${name}": [\n` : ',\n'}${piece.map(element).join(',\n')}`;
    isFirst = false;
  }
  yield isFirst ? `,\n "${name}": []` : '\n ]';
}

async function* once<Item>(item: Item): AsyncGenerator<Item> {
  yield item;
}

/**
 * The text of a manifest in chunks, so that it is never completely in memory: as `JSON.stringify` would write it with
 * an indentation of one. `files` and `redirects` must be in the manifest's order.
 */
export async function* manifestText(
  head: ManifestHead,
  files: AsyncIterable<readonly BundleFile[]>,
  redirects: readonly BundleRedirect[],
): AsyncGenerator<Buffer> {
  yield Buffer.from(JSON.stringify(head, null, 1).slice(0, -'\n}'.length));
  for await (const piece of list('files', files)) yield Buffer.from(piece);
  for await (const piece of list('redirects', once(redirects))) yield Buffer.from(piece);
  yield Buffer.from('\n}\n');
}
