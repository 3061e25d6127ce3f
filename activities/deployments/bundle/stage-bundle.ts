import { rm } from 'node:fs/promises';
import { sha256Hex } from '../../../base/sha256.ts';
import { readArchive, readArchiveHead } from '../../../bundle/archive-file.ts';
import { BundleInvalidError, BundleUnavailableError } from '../../../bundle/errors.ts';
import { downloadBundle, prepareDownload } from '../../../bundle/fetch/download.ts';
import type { BundleResponse } from '../../../bundle/fetch/http-source.ts';
import { fetchMembers, planRanges } from '../../../bundle/fetch/members.ts';
import { openPartialSource, type PartialSource } from '../../../bundle/fetch/partial-source.ts';
import { checkManifest, DEPLOYMENT_LIMITS, NO_LIMITS } from '../../../bundle/manifest.ts';
import { checkedContent, type Head } from '../../../bundle/read-bundle.ts';
import { type BundleFile, type BundleManifest, MANIFEST_PATH } from '../../../contract/bundle.ts';
import { integrityOf } from '../../../contract/integrity.ts';
import type { DeploymentWrite } from '../deployment-target.ts';
import type { Staging } from './staging.ts';

/** A bundle: its link, and the manifest that it must have. */
type Wanted = Pick<DeploymentWrite, 'bundleUrl' | 'integrity'>;

type Staged = {
  staging: Staging;
  /** The files that a version needs and that aren't staged. Called with the checked manifest before any file is read. */
  choose(manifest: BundleManifest): Promise<readonly BundleFile[]>;
  signal: AbortSignal;
};

/**
 * Stages files of the bundle at a link: only these are fetched if the link offers ranges, otherwise the archive, whose
 * download continues where it was interrupted. Every file is checked. Errors name the link's host only: the rest of it
 * is a secret.
 */
export async function stageBundle({ bundleUrl, integrity }: Wanted, options: Staged): Promise<void> {
  const { staging, signal } = options;
  const link = linkOf(bundleUrl);
  await withReasons(signal, async () => {
    let response: BundleResponse | undefined;
    if (!(await prepareDownload(link, staging.downloads))) {
      const opened = await openPartialSource(link, undefined, { signal, maxSizeBytes: Number.MAX_SAFE_INTEGER });
      if (opened.kind === 'partial' && (await stageMembers(opened.source, integrity, options))) return;
      if (opened.kind === 'whole') response = opened.response;
    }
    const archive = await downloadArchive(link, { folder: staging.downloads, response, signal });
    await stageArchive(archive.file, integrity, options);
  });
}

/** Only http(s): the service must not name files of the worker. */
export function linkOf(bundleUrl: string): URL {
  const link = URL.canParse(bundleUrl) ? new URL(bundleUrl) : undefined;
  if (link === undefined || !/^https?:$/.test(link.protocol))
    throw new Error('the link of the bundle is no http(s) URL');
  return link;
}

/** Throws the reason of a cancellation, or one error that says whether the bundle can't be downloaded or is invalid. */
export async function withReasons<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BundleInvalidError) throw new Error(`the archive is no valid bundle: ${error.message}`);
    if (error instanceof BundleUnavailableError) throw new Error(`the bundle can't be downloaded: ${error.message}`);
    throw error;
  }
}

type Download = { folder: string; response?: BundleResponse | undefined; signal: AbortSignal };

/** Returns the archive's file in the folder. An interrupted download continues; those of other links are removed. */
export async function downloadArchive(link: URL, options: Download): Promise<{ file: string; sha256: string }> {
  const limits = { etag: undefined, maxSizeBytes: Number.MAX_SAFE_INTEGER, onProgress() {} };
  const download = await downloadBundle({ link, ...limits, ...options });
  if (download.kind === 'unchanged') throw new Error('a server called bytes unchanged that were never held');
  return download;
}

/** Returns false if the manifest doesn't say where the files are, or says it wrongly. */
async function stageMembers(
  source: PartialSource,
  integrity: string | undefined,
  { staging, choose, signal }: Staged,
): Promise<boolean> {
  const manifest = checkedManifest(source.head, integrity);
  const needed = await choose(manifest);
  const ranges = planRanges(needed, manifest);
  if (ranges === undefined) return false;
  const writer = staging.writer();
  try {
    await fetchMembers(source, { needed, ranges, onFile: writer.write, signal });
    await writer.written();
    return true;
  } catch (error) {
    await writer.abandon();
    if (error instanceof BundleInvalidError) return false;
    throw error;
  }
}

/** Removes the archive if it is read to its end or invalid. */
async function stageArchive(
  archive: string,
  integrity: string | undefined,
  { staging, choose, signal }: Staged,
): Promise<void> {
  const writer = staging.writer();
  try {
    const head = await readArchiveHead(archive, DEPLOYMENT_LIMITS, signal);
    const needed = new Map((await choose(checkedManifest(head, integrity))).map((file) => [file.path, file]));
    await readChecked(archive, { head, integrity, signal }, async (file, content) => {
      if (needed.has(file.path)) await writer.write(file, content);
    });
    await writer.written();
    await rm(archive);
  } catch (error) {
    await writer.abandon();
    if (error instanceof BundleInvalidError) await rm(archive);
    throw error;
  }
}

/** A worker unpacks only what the service reported, as a deployment does. */
function checkedManifest({ manifest, pathOf }: Head, integrity: string | undefined): BundleManifest {
  if (integrity !== undefined && pathOf !== undefined) {
    throw new BundleInvalidError(`it has no ${MANIFEST_PATH}, but the service reported one`);
  }
  if (integrity !== undefined && integrityOf(sha256Hex(manifest)) !== integrity) {
    throw new BundleInvalidError('its manifest is not the one that the service reported');
  }
  return checkManifest(manifest, NO_LIMITS);
}

/**
 * Reads an archive from the start to the end, until every file that its manifest names was there.
 * @param onFile gets each file. Its content, if it is read, throws if size or hash differ from the manifest
 */
export async function readChecked(
  archive: string,
  { integrity, head, signal }: Pick<Wanted, 'integrity'> & { head?: Head; signal: AbortSignal },
  onFile: (file: BundleFile, content: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  await readArchive(archive, head ?? (await readArchiveHead(archive, DEPLOYMENT_LIMITS, signal)), {
    onHead: (head) => checkedManifest(head, integrity),
    onFile: (file, content) => onFile(file, checkedContent(file, content)),
    signal,
  });
}
