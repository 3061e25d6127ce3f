import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { syncToDisk } from '../../../base/durable-file.ts';
import { errorCode } from '../../../base/error-code.ts';
import { replaceFile } from '../../../base/replace-file.ts';
import { sha256Hex } from '../../../base/sha256.ts';
import { BundleInvalidError } from '../../../bundle/errors.ts';
import { checkManifest, NO_LIMITS } from '../../../bundle/manifest.ts';
import { readBundleHead } from '../../../bundle/read-bundle.ts';
import type { BundleSigner } from '../../../contract/signing.ts';
import { downloadArchive, linkOf, readChecked, withReasons } from '../bundle/stage-bundle.ts';
import { checkFolder, checkWritable, type FolderDeps } from '../check-folder.ts';
import type { DeploymentTarget, DeploymentWrite } from '../deployment-target.ts';
import { editValues } from '../edit-values.ts';
import { withFileLock } from '../file-lock.ts';
import { orderOf, refusedReport, writtenOrder, writtenReport } from '../write-order.ts';

export type AirgapDeps = {
  /** Signs the checksums, if a key is configured. */
  signer?: { sign: (...bytes: Parameters<BundleSigner['sign']>) => string | Promise<string> } | undefined;
};

/** Names the newest version. It is written last, so that it names only complete ones. */
export const LATEST = 'latest';
const ARCHIVE = 'bundle.tar.gz';
/** What a canceled or killed write leaves here, the next one of the same job uses. */
const DOWNLOADS = '.incomplete';

/** As many as a deployment keeps unpacked. */
const KEPT_BEFORE = 2;

/** A version's folder. The file lies on a medium that others write to, so it must be a plain name. */
const versionFolder = z.string().regex(/^(?!\.)[\w.+-]+$/);

/** `earlier`: the versions before, newest first. */
const latestFile = writtenOrder.extend({ folder: versionFolder, earlier: z.array(versionFolder).default([]) });
type Latest = z.infer<typeof latestFile>;

/**
 * A folder that people carry to a machine without a network. Each version has a folder of its own under the site's:
 * `bundle.tar.gz`, `values.yaml` with a link to it, `SHA256SUMS`, and its signature. The two versions before
 * stay.
 */
export function createAirgapTarget(
  root: string,
  { signer, createUnder }: AirgapDeps & FolderDeps = {},
): DeploymentTarget {
  return {
    async write(write, { site, signal }) {
      const folder = join(root, site);
      await checkFolder(root, createUnder);
      await mkdir(folder, { recursive: true });
      return await withFileLock(join(folder, LATEST), async (stillHeld) => {
        const current = await readLatest(folder);
        const refusal = refusedReport(write, current);
        if (refusal !== null) return refusal;
        const name = current?.jobId === write.jobId ? current.folder : await folderName(folder, write);
        if (!(await readdir(folder)).includes(name)) await writeVersion({ folder, name, write, signer }, signal);
        await rm(join(folder, DOWNLOADS), { recursive: true, force: true });
        stillHeld();
        const known = current === null ? [] : [current.folder, ...current.earlier];
        const before = known.filter((each) => each !== name);
        for (const old of before.slice(KEPT_BEFORE)) await rm(join(folder, old), { recursive: true, force: true });
        const latest: Latest = { ...orderOf(write, current), folder: name, earlier: before.slice(0, KEPT_BEFORE) };
        await replaceFile(join(folder, LATEST), `${JSON.stringify(latest, null, 2)}\n`);
        return writtenReport(write);
      });
    },
    async check() {
      const found = await checkWritable(root, createUnder);
      if (found.fix !== null) return found;
      // A key that can't be read is an error at start.
      const signed = signer === undefined ? 'unsigned, because BUNDLE_SIGNING_KEY is not set' : 'signed';
      return { message: `${found.message}; its checksums will be ${signed}`, fix: null };
    },
  };
}

type NewVersion = { folder: string; name: string; write: DeploymentWrite; signer: AirgapDeps['signer'] };

/** Downloads the archive, or the rest of it. The version gets its name when it is complete. */
async function writeVersion({ folder, name, write, signer }: NewVersion, signal: AbortSignal): Promise<void> {
  const { file, sha256 } = await withReasons(signal, async () => {
    const archive = await downloadArchive(linkOf(write.bundleUrl), { folder: join(folder, DOWNLOADS), signal });
    await checkArchive(archive.file, { integrity: write.integrity, signal });
    return archive;
  });
  const temporary = join(folder, DOWNLOADS, 'version');
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary);
  const values = editValues('', { enabled: true, bundleUrl: 'file:///srv/galley/bundle.tar.gz' });
  const text = `# galley deployment import sets the link on the other side.\n${values}`;
  await writeFile(join(temporary, 'values.yaml'), text);
  const valuesHash = sha256Hex(text);
  const sums = Buffer.from(`${sha256}  bundle.tar.gz\n${valuesHash}  values.yaml\n`);
  await writeFile(join(temporary, 'SHA256SUMS'), sums);
  if (signer !== undefined) await writeFile(join(temporary, 'SHA256SUMS.sig'), `${await signer.sign(sums)}\n`);
  await rename(file, join(temporary, ARCHIVE));
  for (const each of await readdir(temporary)) await syncToDisk(join(temporary, each));
  await rename(temporary, join(folder, name));
}

/** A damaged bundle can't be repaired on the other side. */
async function checkArchive(file: string, options: Parameters<typeof readChecked>[1]): Promise<void> {
  try {
    await readChecked(file, options, async (_, content) => {
      for await (const _chunk of content);
    });
  } catch (error) {
    if (error instanceof BundleInvalidError) await rm(file);
    throw error;
  }
}

/**
 * A version is a name that people chose, so it may be no name of a folder. After a restored database, or with another
 * Admin API, an earlier job may have had it too: the new one must not pass that job's folder off as its own.
 */
async function folderName(folder: string, { version, jobId }: DeploymentWrite): Promise<string> {
  const ownName = jobId.replaceAll(/[^A-Za-z0-9_-]/g, '-');
  const isName = version !== null && /^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/.test(version) && version !== LATEST;
  if (!isName) return ownName;
  const isFree = !(await readdir(folder)).includes(version);
  return isFree || (await readJobId(join(folder, version, ARCHIVE))) === jobId ? version : ownName;
}

/** Null if there is no valid archive. */
async function readJobId(archive: string): Promise<string | null> {
  try {
    const { manifest } = await readBundleHead(createReadStream(archive));
    return checkManifest(manifest, NO_LIMITS).jobId;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof BundleInvalidError) return null;
    throw error;
  }
}

async function readLatest(folder: string): Promise<Latest | null> {
  try {
    return latestFile.parse(JSON.parse(await readFile(join(folder, LATEST), 'utf8')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError) return null;
    throw error;
  }
}
