import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { type BundleManifest, bundleManifest, contentDigestLine, MANIFEST_PATH } from '../../../contract/bundle.ts';

/** Downloads an archive and returns its manifest. Throws unless the files match the manifest. */
export async function readArchive(link: string): Promise<BundleManifest> {
  const response = await fetch(link);
  const hashes = new Map<string, string>();
  let manifest: BundleManifest | undefined;
  const tar = extract();
  tar.end(gunzipSync(Buffer.from(await response.arrayBuffer())));
  for await (const entry of tar) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    if (entry.header.name === MANIFEST_PATH) manifest = bundleManifest.parse(JSON.parse(bytes.toString('utf8')));
    else hashes.set(entry.header.name, createHash('sha256').update(bytes).digest('hex'));
  }
  if (manifest === undefined) throw new Error('The archive has no manifest');
  const wrong = manifest.files.filter(({ path, sha256 }) => hashes.get(path) !== sha256);
  if (wrong.length > 0 || hashes.size !== manifest.files.length) {
    throw new Error(`The archive does not match its manifest, for example ${wrong[0]?.path}`);
  }
  const content = createHash('sha256');
  for (const file of manifest.files) content.update(contentDigestLine(file));
  if (content.digest('hex') !== manifest.contentSha256) throw new Error('The manifest has a wrong contentSha256');
  return manifest;
}
