import * as zlib from 'node:zlib';
import { collisionKey } from '../../bundle/path.ts';
import { CODING_EXTENSIONS, type ContentCoding } from '../../contract/content-coding.ts';
import { ExportFailure } from '../export-failure.ts';
import type { CrawlStore } from '../ports.ts';
import type { ExportSettings } from '../settings.ts';
import type { ArchiveEntry } from './archive/tar-blocks.ts';
import { madeTwin, usualTwins } from './twins.ts';

/** Which siblings the files of an export get: precompressed ones, and pages their twins in Markdown. */
export type SiblingPlan = {
  /** The codings in the order of `CONTENT_CODINGS`. */
  codings: readonly ContentCoding[];
  /** Pages without a twin in Markdown get one; missing: no. */
  twins?: boolean;
  /** Collision keys of the origin's own files and folders whose names a sibling would have. */
  taken: ReadonlySet<string>;
};

const SIBLING_NAME = /\.(?:br|gz|zst|md)$/;

function siblingPath(path: string, coding: ContentCoding): string {
  return `${path}${CODING_EXTENSIONS[coding]}`;
}

/** The plan of a frozen crawl: the origin's own files take precedence over siblings. */
export async function planSiblings(
  store: CrawlStore,
  { jobId, precompress, markdown }: Pick<ExportSettings, 'jobId' | 'precompress' | 'markdown'>,
): Promise<SiblingPlan> {
  const twins = markdown === 'on';
  const extensions = [...(precompress.length === 0 ? [] : ['br', 'gz', 'zst']), ...(twins ? ['md'] : [])];
  const paths = extensions.length === 0 ? [] : await store.pathsMatching(jobId, `\\.(${extensions.join('|')})(/|$)`);
  return { codings: precompress, ...(twins && { twins }), taken: new Set(paths.flatMap(siblingNamesIn)) };
}

/** The path and its parent folders, if they are named like a sibling. */
function siblingNamesIn(path: string): string[] {
  const segments = collisionKey(path).split('/');
  return segments.map((_, index) => segments.slice(0, index + 1).join('/')).filter((name) => SIBLING_NAME.test(name));
}

function isTaken(path: string, { taken }: Pick<SiblingPlan, 'taken'>): boolean {
  return taken.size > 0 && taken.has(collisionKey(path));
}

/** The siblings that these files don't get because the origin has their names; part of the piece's key. */
export function withheldSiblings(files: ReadonlyArray<{ path: string }>, plan: SiblingPlan): string[] {
  if (plan.taken.size === 0) return [];
  const all = files.flatMap(({ path }) => [
    ...plan.codings.map((coding) => siblingPath(path, coding)),
    ...(plan.twins ? usualTwins(path) : []),
  ]);
  return all.filter((path) => isTaken(path, plan));
}

/** The path of the twin that a page gets; undefined if the origin has one, or another file with that name. */
export function twinToMake(path: string, plan: SiblingPlan): string | undefined {
  if (!plan.twins || usualTwins(path).some((twin) => isTaken(twin, plan))) return undefined;
  return madeTwin(path);
}

/**
 * At 6 manuals and scripts shrink to 23 % in about gzip's time. 8 takes 1.25 to 2 times as long for 1 % less, 9 takes 7
 * to 18 times for 2 % less, and 11 takes 50 times for 10 to 15 % less.
 */
const BROTLI_QUALITY = 6;
/** 9 takes half as long again for 0.5 % less. */
const GZIP_LEVEL = 6;
/**
 * Takes as long as brotli at 6 and reaches 24 to 26 %; 12 takes twice as long for 1 % less, 19 fifteen times for 3 to 6
 * %.
 */
const ZSTD_LEVEL = 9;
/** `ZSTD_c_compressionLevel`, fixed by zstd's interface; the oldest supported Node has no name for it. */
const ZSTD_LEVEL_PARAMETER = 100;
/** The operating system's byte in the gzip header: 255 is "unknown", so that all systems write the same. */
const OPERATING_SYSTEM_AT = 9;

type Done = (error: Error | null, compressed: Buffer) => void;

function settled(start: (done: Done) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    start((error, compressed) => (error === null ? resolve(compressed) : reject(error)));
  });
}

function brotli(bytes: Uint8Array): Promise<Buffer> {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = zlib.constants;
  const params = { [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [BROTLI_PARAM_SIZE_HINT]: bytes.byteLength };
  return settled((done) => zlib.brotliCompress(bytes, { params }, done));
}

async function gzip(bytes: Uint8Array): Promise<Buffer> {
  const compressed = await settled((done) => zlib.gzip(bytes, { level: GZIP_LEVEL }, done));
  compressed[OPERATING_SYSTEM_AT] = 255;
  return compressed;
}

function zstd(bytes: Uint8Array): Promise<Buffer> {
  return settled((done) => {
    if (typeof zstdCompress !== 'function') throw new Error(ZSTD_MISSING);
    zstdCompress(bytes, { params: { [ZSTD_LEVEL_PARAMETER]: ZSTD_LEVEL } }, done);
  });
}

const COMPRESSORS = { br: brotli, gzip, zstd } as const satisfies Record<ContentCoding, unknown>;

/**
 * Compresses a file in one of zlib's threads. Equal bytes give equal results if `compressorsName` is the same. Rejects
 * if this Node lacks the coding (`canCompress`).
 */
export function compress(coding: ContentCoding, bytes: Uint8Array): Promise<Buffer> {
  return COMPRESSORS[coding](bytes);
}

/** Throws a permanent failure that says what to do if this worker lacks a compressor that the project needs. */
export function needCompressors(codings: readonly ContentCoding[]): void {
  if (codings.every(canCompress)) return;
  const message = `The project's files are to be compressed (precompress: ${codings.join(', ')}), but ${ZSTD_MISSING}`;
  throw new ExportFailure('ExportImpossible', message);
}

/**
 * Node's own; undefined before Node 22.15. Looked up by name, because the oldest supported Node's types don't have it.
 */
const zstdCompress: unknown = Reflect.get(zlib, 'zstdCompress');

export const ZSTD_MISSING = `zstd needs Node 22.15 or newer, and this is ${process.version}`;

/** Whether this Node supports a coding. */
export function canCompress(coding: ContentCoding): boolean {
  return coding !== 'zstd' || typeof zstdCompress === 'function';
}

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

type EntryWithCoding = ArchiveEntry & { encoding?: ContentCoding };

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
