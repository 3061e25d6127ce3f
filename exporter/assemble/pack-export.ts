import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { MANIFEST_PATH, SIGNATURE_PATH } from '../../contract/bundle.ts';
import { withHeadLength } from '../../contract/bundle-head.ts';
import type { BundleSigner } from '../../contract/signing.ts';
import type { PackedArchive } from '../crawl-records.ts';
import { needingObjects } from '../export-failure.ts';
import { bundleKey, reportKey as keyOfReport } from '../object-keys.ts';
import type { ExportObjects, Prover } from '../ports.ts';
import { openPreviousCrawl } from '../reuse/reuse-key.ts';
import { readCrawl } from '../settings.ts';
import { packProgress, proofProgress, type StageDeps } from '../stage.ts';
import { gzipMember, measuredMember, trailerMember } from './archive/members.ts';
import { readExtents } from './extents.ts';
import { type BundleOutline, outlineBundle } from './manifest.ts';
import { proveArchive } from './prove-archive.ts';
import { createReport } from './report.ts';

type PackDeps = StageDeps & {
  objects: ExportObjects;
  /** Signs the manifests of bundles; undefined: they are unsigned. */
  signer: BundleSigner | undefined;
  /** Undefined: this process can't compare bundles with their origins. */
  prover: Prover | undefined;
};

export type PackedExport = {
  /** `cancelled`: the job's cancel was accepted before it could complete. */
  state: 'completed' | 'cancelled';
  archiveKey: string;
  sizeBytes: number;
  contentSha256: string;
  pageCount: number;
  fileCount: number;
  brokenLinks: number;
  /** Files copied unchanged from the project's previous archive. */
  reusedFiles: number;
};

/** The job's last stage: writes the archive, its proof and the report, then marks the job's row as completed. */
export async function packExport(deps: PackDeps, jobId: string): Promise<PackedExport> {
  const { store, objects, signer, logger } = deps;
  let bytes = 0;
  let totalBytes = 0;
  let proving: { doneCount: number; pageCount: number } | undefined;
  const details = () => ({ bytes, totalBytes, ...(proving && { proving }) });
  const reached = () => (proving === undefined ? packProgress({ bytes, totalBytes }) : proofProgress(proving));
  const progress = async () => ({ progress: reached(), pageCount: 0 });
  return deps.runStage({ jobId, details, progress }, async ({ signal }) => {
    const crawl = await readCrawl(store, jobId);
    const { settings } = crawl;
    await openPreviousCrawl(deps, crawl);
    const outline = await outlineBundle(store, settings, crawl);
    const { head, reuse } = outline;
    totalBytes = 2 * outline.members.reduce((sum, member) => sum + member.byteLength, 0);
    const onBytes = (read: number) => {
      bytes += read;
    };
    const { gzipLevel } = deps.limits;
    // In parallel: the report uses the database, the archive the disk.
    const [archive, { report: content, reusedCount }] = await Promise.all([
      needingObjects(packBundle(objects, outline, { gzipLevel, signer, onBytes, signal })),
      createReport(store, settings, { ...crawl, ...outline }),
    ]);
    const onProgress = (made: { doneCount: number; pageCount: number }) => {
      proving = made;
    };
    const proof = await proveArchive(deps, { settings, archiveKey: archive.archiveKey, signal, onProgress });
    const report = { ...content, ...(proof && { proof }), reuse: { unchangedAddresses: reusedCount, ...reuse } };
    const reportKey = keyOfReport(jobId);
    await objects.put(reportKey, Buffer.from(JSON.stringify(report)), { contentType: 'application/json' });
    const { contentSha256, pageCount } = head;
    const completed = await store.completeExport(jobId, { ...archive, contentSha256, pageCount, reportKey });
    if (crawl.keep && !completed.isReusable) logger.info({ jobId }, 'The next export can not reuse this one');
    return {
      state: completed.state,
      archiveKey: archive.archiveKey,
      sizeBytes: archive.archiveSizeBytes,
      contentSha256,
      pageCount,
      fileCount: reuse.files,
      brokenLinks: report.counts.brokenLinks,
      reusedFiles: reuse.reusedFiles,
    };
  });
}

/**
 * Streams the archive: head, members, trailer. Its key needs the hash of all bytes, so the members are read twice,
 * which costs less than writing the archive twice. Of the manifest only the compressed bytes are held, unless it is
 * signed.
 */
async function packBundle(
  objects: ExportObjects,
  { manifest, members }: Pick<BundleOutline, 'manifest' | 'members'>,
  options: {
    gzipLevel: number;
    signer: BundleSigner | undefined;
    onBytes: (bytes: number) => void;
    signal: AbortSignal;
  },
): Promise<PackedArchive> {
  const { head, manifestSha256 } = await makeHead(manifest(), options);
  const headBytes = head.reduce((sum, { length }) => sum + length, 0);
  const tail = Buffer.from(await trailerMember());

  const extents = members.filter(({ byteLength }) => byteLength > 0);

  async function* archive(): AsyncGenerator<Buffer> {
    yield* head;
    for await (const chunk of readExtents(objects, extents)) {
      options.signal.throwIfAborted();
      options.onBytes(chunk.length);
      yield chunk;
    }
    yield tail;
  }

  const hash = createHash('sha256');
  let archiveSizeBytes = 0;
  for await (const chunk of archive()) {
    hash.update(chunk);
    archiveSizeBytes += chunk.length;
  }
  const archiveSha256 = hash.digest('hex');
  const archiveKey = bundleKey(archiveSha256);
  await objects.put(archiveKey, Readable.from(archive()), {
    contentType: 'application/gzip',
    sizeBytes: archiveSizeBytes,
  });
  return { archiveKey, archiveSha256, archiveSizeBytes, headBytes, manifestSha256 };
}

/** The archive's first members: the manifest and its signature. */
async function makeHead(
  manifest: AsyncIterable<Buffer>,
  { gzipLevel: level, signer }: { gzipLevel: number; signer: BundleSigner | undefined },
): Promise<{ head: Buffer[]; manifestSha256: string }> {
  const text: Buffer[] = [];
  const hash = createHash('sha256');
  async function* kept(): AsyncGenerator<Buffer> {
    for await (const chunk of manifest) {
      hash.update(chunk);
      // ed25519 signs whole messages only.
      if (signer !== undefined) text.push(chunk);
      yield chunk;
    }
  }
  const [first = Buffer.alloc(0), ...rest] = await measuredMember({ path: MANIFEST_PATH, source: kept() }, { level });
  if (signer !== undefined) {
    const bytes = Buffer.from(`${signer.sign(Buffer.concat(text))}\n`);
    const signature = await gzipMember([{ path: SIGNATURE_PATH, bytes, contentType: 'text/plain' }], { level });
    rest.push(Buffer.from(signature.bytes));
  }
  const restBytes = rest.reduce((sum, { length }) => sum + length, 0);
  return { head: [withHeadLength(first, restBytes), ...rest], manifestSha256: hash.digest('hex') };
}
