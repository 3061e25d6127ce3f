import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { type BundleManifest, bundleManifest, MANIFEST_PATH } from '../../contract/bundle.ts';

/** Reads an archive's manifest and the text of its files by path. */
export async function readBundleArchive(
  archive: Buffer,
): Promise<{ manifest: BundleManifest; files: Map<string, string> }> {
  const files = new Map<string, string>();
  const tar = extract();
  tar.end(gunzipSync(archive));
  for await (const entry of tar) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    files.set(entry.header.name, Buffer.concat(chunks).toString('utf8'));
  }
  const manifest = bundleManifest.parse(JSON.parse(files.get(MANIFEST_PATH) ?? ''));
  files.delete(MANIFEST_PATH);
  return { manifest, files };
}
