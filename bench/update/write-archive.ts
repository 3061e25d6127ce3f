import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { BUNDLE_FORMAT_VERSION, type BundleFile, contentDigestLine, MANIFEST_PATH } from '../../contract/bundle.ts';
import { withHeadLength } from '../../contract/bundle-head.ts';
import { gzipMember, measuredMember, trailerMember } from '../../exporter/assemble/archive/members.ts';
import { manifestText } from '../../exporter/assemble/manifest.ts';
import { divideIntoPieces } from '../../exporter/assemble/pieces.ts';
import { DEFAULT_LIMITS } from '../../exporter/limits.ts';
import type { Pages } from './pages.ts';

/** Writes an edition of a site as an export would pack it, without rewriting links. Returns the archive's size. */
export async function writeArchive(path: string, pages: Pages, edition: 1 | 2): Promise<number> {
  const members: Uint8Array[] = [];
  const files: BundleFile[] = [];
  const digest = createHash('sha256');
  let offset = 0;
  for (const piece of divideIntoPieces(pages.files, DEFAULT_LIMITS)) {
    const contentType = 'text/html; charset=utf-8';
    const entries = await Promise.all(
      piece.map(async (file) => ({ path: file.path, bytes: await pages.read(file.path, edition), contentType })),
    );
    const member = await gzipMember(entries, { level: DEFAULT_LIMITS.gzipLevel });
    const { length } = member.bytes;
    for (const file of member.files) {
      digest.update(contentDigestLine(file));
      files.push({ ...file, offset, length });
    }
    offset += length;
    members.push(member.bytes);
  }
  const head = {
    formatVersion: BUNDLE_FORMAT_VERSION,
    jobId: `se_${String(edition).padStart(16, '0')}`,
    domain: 'docs.example.com',
    version: String(edition),
    createdAt: new Date(edition).toISOString(),
    contentSha256: digest.digest('hex'),
    pageCount: files.length,
  };
  async function* all() {
    yield files;
  }
  const source = manifestText(head, all(), []);
  const [first = Buffer.alloc(0), ...rest] = await measuredMember(
    { path: MANIFEST_PATH, source },
    { level: DEFAULT_LIMITS.gzipLevel },
  );
  const restBytes = rest.reduce((sum, { length }) => sum + length, 0);
  const file = await open(path, 'w');
  try {
    await file.writev([withHeadLength(first, restBytes), ...rest]);
    for (const member of members) await file.write(member);
    await file.write(await trailerMember());
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}
