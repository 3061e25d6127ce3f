import type { ContentCoding } from '../../../contract/content-coding.ts';
import type { ArchiveEntry } from '../../pack/archive/types.ts';
import { compress } from './compress.ts';
import { isTaken, type SiblingPlan, siblingPath } from './sibling-plan.ts';

/** A smaller file fits into the first packets of a connection anyway. */
const MIN_BYTES = 1024;
/** Text, and the few binary types that aren't already compressed. */
const COMPRESSIBLE =
  /^(?:text\/|(?:application|image|model)\/[^;]*\+(?:json|xml|text)\b|application\/(?:javascript|x-javascript|ecmascript|json|xml|wasm|manifest|rtf|vnd\.ms-fontobject|x-font-(?:ttf|otf)|font-sfnt)\b|font\/(?:ttf|otf|collection)\b|image\/(?:bmp|x-icon|vnd\.microsoft\.icon)\b)/i;
/** The media type of a sibling as a file. Brotli has no registered one. */
const TYPES: Record<ContentCoding, string> = {
  br: 'application/octet-stream',
  gzip: 'application/gzip',
  zstd: 'application/zstd',
};

export type EntryWithCoding = ArchiveEntry & { encoding?: ContentCoding };

/** Adds each file's planned siblings right after it. Omits a sibling that isn't smaller than its file. */
export async function withSiblings(entries: readonly ArchiveEntry[], plan: SiblingPlan): Promise<EntryWithCoding[]> {
  if (plan.codings.length === 0) return [...entries];
  return (await Promise.all(entries.map(async (entry) => [entry, ...(await siblingsOf(entry, plan))]))).flat();
}

async function siblingsOf({ path, bytes, contentType }: ArchiveEntry, plan: SiblingPlan): Promise<EntryWithCoding[]> {
  if (bytes.byteLength <= MIN_BYTES || !COMPRESSIBLE.test(contentType)) return [];
  const codings = plan.codings.filter((coding) => !isTaken(siblingPath(path, coding), plan));
  const made = codings.map(async (encoding): Promise<EntryWithCoding> => {
    const compressed = await compress(encoding, bytes);
    return { path: siblingPath(path, encoding), bytes: compressed, contentType: TYPES[encoding], encoding };
  });
  return (await Promise.all(made)).filter((sibling) => sibling.bytes.byteLength < bytes.byteLength);
}
