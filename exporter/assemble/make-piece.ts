import type { BundleFile } from '../../contract/bundle.ts';
import { parseExtraction } from '../document/extract.ts';
import { rewrite } from '../document/rewrite.ts';
import type { Extraction, RewritePolicy, Target } from '../document/types.ts';
import { errorMessage } from '../fetch/error-code.ts';
import { NOT_FOUND_PATH } from '../urls/assign-path.ts';
import type { Resource, Site } from '../urls/identity.ts';
import { type OriginNames, originNames } from '../urls/origin-names.ts';
import { gzipMember } from './archive/members.ts';
import type { ArchiveEntry, ArchiveMember } from './archive/tar-blocks.ts';
import type { PageAnchors } from './broken-anchors.ts';
import { originalUrl } from './original-url.ts';
import { type SiblingPlan, twinToMake, withSiblings } from './precompress.ts';
import { isPageType } from './twins.ts';
import { targetIn, type UrlMap } from './url-map.ts';

/** Calls `makePiece`, in any thread. */
export type PieceMaker = { makePiece(input: PieceInput): Promise<MadePiece> };

/** A fetched file. `extraction` is stored text (`serializeExtraction`), empty if nothing is rewritten. */
export type PieceFile = {
  url: string;
  path: string;
  contentType: string;
  isPage: boolean;
  bytes: Uint8Array;
  extraction: Uint8Array;
};

export type PieceInput = {
  /** The files in the bundle's order. */
  files: readonly PieceFile[];
  /** The targets of URLs, at least of all that the files refer to. */
  targets: UrlMap;
  site: Site;
  policy: RewritePolicy;
  siblings: SiblingPlan;
  /** zlib's, 0 to 9. */
  gzipLevel: number;
};

export type MadePiece = ArchiveMember & {
  /** The broken links of the files. */
  broken: Array<{ url: string; referrer: string }>;
  /** Documents that could not be rewritten and are archived unchanged. */
  failures: Array<{ url: string; reason: string }>;
  /** How often the files still have the address of the origin. */
  originUrls: Array<{ url: string; count: number }>;
  anchors: PageAnchors[];
  /** Pages that got a twin in Markdown. */
  madeTwins: number;
};

/**
 * Makes one piece of the archive: rewrites the references of its files and compresses the files as one gzip member,
 * each followed by its precompressed siblings. Pure: equal inputs give equal bytes in any thread and on any machine,
 * siblings if the compressors are the same (`compressorsName`). Rejects only if this Node lacks a compressor.
 */
export async function makePiece({ files, gzipLevel, siblings, ...input }: PieceInput): Promise<MadePiece> {
  const findings: Findings = { broken: [], anchors: [], twins: new Map() };
  const failures: MadePiece['failures'] = [];
  const origin = originNames(input.site);
  const rewritten = files.map((file) => {
    const { path, contentType, url } = file;
    try {
      return { path, contentType, bytes: rewriteFile(file, input, findings) };
    } catch (error) {
      failures.push({ url, reason: errorMessage(error) });
      return { path, contentType, bytes: file.bytes };
    }
  });
  const made = siblings.twins
    ? await makeTwins(rewritten, files, { siblings, named: findings.twins, failures })
    : new Map();
  const whole = rewritten.flatMap((entry) => [entry, ...(made.get(entry.path) ?? [])]);
  const entries = await withSiblings(whole, siblings);
  const member = await gzipMember(entries, { level: gzipLevel });
  const { twins, ...found } = findings;
  const marks = new Map<string, Pick<BundleFile, 'url' | 'markdown' | 'encoding'>>();
  for (const file of files) {
    const markdown = twins.get(file.path);
    marks.set(file.path, { ...originalUrl(file, input.site), ...(markdown !== undefined && { markdown }) });
  }
  for (const { path, encoding } of entries) if (encoding !== undefined) marks.set(path, { encoding });
  const originUrls = rewritten.flatMap(({ bytes }, index) => {
    const count = origin === undefined ? 0 : countOrigin(bytes, origin);
    return count === 0 ? [] : [{ url: files[index]?.url ?? '', count }];
  });
  return {
    bytes: member.bytes,
    files: member.files.map((file) => ({ ...file, ...marks.get(file.path) })),
    ...found,
    failures,
    originUrls,
    madeTwins: made.size,
  };
}

/** The twins of pages that have none, by the path of the page. A page that can't be read is in `failures`. */
async function makeTwins(
  rewritten: readonly ArchiveEntry[],
  files: readonly PieceFile[],
  {
    siblings,
    named,
    failures,
  }: Pick<PieceInput, 'siblings'> & Pick<MadePiece, 'failures'> & { named: Findings['twins'] },
): Promise<Map<string, ArchiveEntry[]>> {
  const { pageMarkdown } = await import('../document/page-markdown.ts');
  const twins = new Map<string, ArchiveEntry[]>();
  for (const [index, { path, bytes, contentType }] of rewritten.entries()) {
    const file = files[index];
    const twin = twinToMake(path, siblings);
    const isPage = file?.isPage === true && path !== NOT_FOUND_PATH && isPageType(contentType);
    if (!isPage || twin === undefined || named.has(path)) continue;
    try {
      const markdown = Buffer.from(pageMarkdown(Buffer.from(bytes).toString('utf8')));
      if (markdown.length > 0)
        twins.set(path, [{ path: twin, bytes: markdown, contentType: 'text/markdown; charset=utf-8' }]);
    } catch (error) {
      failures.push({ url: file.url, reason: `no twin in Markdown: ${errorMessage(error)}` });
    }
  }
  return twins;
}

/** How often the address of the origin is in a file. */
function countOrigin(bytes: Uint8Array, { host, any }: OriginNames): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return text.includes(host) ? (text.toString('latin1').match(any)?.length ?? 0) : 0;
}

/** `twins`: the paths of pages in Markdown by that of the page. */
type Findings = Pick<MadePiece, 'broken' | 'anchors'> & { twins: Map<string, string> };

function rewriteFile(
  file: PieceFile,
  { targets, site, policy }: Pick<PieceInput, 'targets' | 'site' | 'policy'>,
  { broken, anchors, twins }: Findings,
): Uint8Array {
  const { url, path, bytes } = file;
  if (file.extraction.length === 0) return bytes;
  const text = Buffer.from(file.extraction.buffer, file.extraction.byteOffset, file.extraction.byteLength);
  const target = (resource: Resource): Target => {
    const found = targetIn(targets, resource);
    if ('missing' in found && !isGuessed(resource)) broken.push({ url: resource.url, referrer: url });
    return found;
  };
  const extraction = parseExtraction(text.toString('utf8'));
  if (extraction.anchors !== undefined) anchors.push(pageAnchors(file, extraction, targets));
  const twin = extraction.twin === undefined ? undefined : extraction.resources[extraction.twin];
  const twinTarget = twin && targetIn(targets, twin);
  if (twinTarget !== undefined && 'path' in twinTarget) twins.set(path, twinTarget.path);
  return rewrite({ bytes, extraction, site, url, ownPath: path, target, policy });
}

/** The anchors of a page, with the paths of the pages that its links lead to. */
function pageAnchors({ url, path }: PieceFile, { anchors, resources }: Extraction, targets: UrlMap): PageAnchors {
  const links = new Map<string, string[]>();
  for (const [index, fragment] of anchors?.links ?? []) {
    const resource = resources[index];
    const target = resource === undefined ? { path } : targetIn(targets, resource);
    if ('path' in target) links.set(target.path, [...(links.get(target.path) ?? []), fragment]);
  }
  return { url, path, ...(anchors?.ids !== undefined && { ids: anchors.ids }), links: [...links] };
}

function isGuessed({ kind }: Resource): boolean {
  return kind === 'guess' || kind === 'probe';
}
