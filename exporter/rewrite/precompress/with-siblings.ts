import type { ContentCoding } from '../../../contract/content-coding.ts';
import type { ArchiveEntry } from '../../pack/archive/types.ts';
import { compress } from './compress.ts';
import { isTaken, type SiblingPlan, siblingPath } from './sibling-plan.ts';

/** Up to here a file fits the first packets of a connection as it is. */
const MIN_BYTES = 1024;
/** Text, and the few binary types that aren't compressed by themselves. */
const COMPRESSIBLE =
  /^(?:text\/|(?:application|image|model)\/[^;]*\+(?:json|xml|text)\b|application\/(?:javascript|x-javascript|ecmascript|json|xml|wasm|manifest|rtf|vnd\.ms-fontobject|x-font-(?:ttf|otf)|font-sfnt)\b|font\/(?:ttf|otf|collection)\b|image\/(?:bmp|x-icon|vnd\.microsoft\.icon)\b)/i;
/** What a sibling is as a file of its own. Brotli's format has no registered type. */
const TYPES: Record<ContentCoding, string> = {
  br: 'application/octet-stream',
  gzip: 'application/gzip',
  zstd: 'application/zstd',
};

export type EntryWithCoding = ArchiveEntry & { encoding?: ContentCoding };

/**
 * Adds to each file the siblings that the plan has for it, right behind it. A sibling that isn't smaller than its file
 * is left out.
 */
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
