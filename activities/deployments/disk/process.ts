/**
 * The program of a disk process (processes.ts), which does the file operations of some deployments. Its argument is the
 * longest time that one operation may take, in milliseconds.
 */
import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { errorCode, errorText } from '../../../base/error-code.ts';
import { serveJobs } from '../../../base/job-program.ts';
import type { DeploymentTarget } from '../deployment-target.ts';
import { ValuesFileError } from '../edit-values.ts';
import { createValuesFileTarget } from '../values-file.ts';
import type { DiskJob, DiskResult, DiskWork, FileRead, FileToRead } from './messages.ts';

type Signer = { sign(bytes: Uint8Array): Promise<string> };

const hangsAfterMs = Number(process.argv[2]);

/** Node's names of what occupies a thread of the pool until the file system responds. */
const OPERATIONS = new Set(['FSREQPROMISE', 'FSREQCALLBACK', 'FILEHANDLECLOSEREQ']);
const CHECK_MS = 500;

/** A read that takes longer isn't awaited: the other files must not wait for it. */
const READ_MS = 2_000;
const READS = 16;

/** Reports that the current job hangs. */
const current = new AsyncLocalStorage<() => void>();
const operations = new Map<number, { report: () => void; sinceMs: number }>();

createHook({
  init(id, type) {
    const report = OPERATIONS.has(type) ? current.getStore() : undefined;
    if (report !== undefined) operations.set(id, { report, sinceMs: performance.now() });
  },
  before: (id) => void operations.delete(id),
  destroy: (id) => void operations.delete(id),
}).enable();

setInterval(() => {
  const late = [...operations].filter(([, { sinceMs }]) => performance.now() - sinceMs >= hangsAfterMs);
  for (const [id, { report }] of late) {
    operations.delete(id);
    report();
  }
}, CHECK_MS);

serveJobs<DiskWork>((job, { signal, notify, ask }) => {
  // The key stays with the worker.
  const signer = { sign: (bytes: Uint8Array) => ask({ sign: Buffer.from(bytes).toString('base64') }) };
  return current.run(
    () => notify({ hangs: true }),
    () => answer(job, signal, signer),
  );
});

async function answer(job: DiskJob, signal: AbortSignal, signer: Signer): Promise<DiskResult> {
  try {
    if (job.kind === 'read') return { files: await readFiles(job.files) };
    const target = await openTarget(job, signer);
    return { report: await target.write(job.write, { site: job.write.site, signal }) };
  } catch (error) {
    return { error: errorText(error), isInvalidFile: error instanceof ValuesFileError };
  }
}

/** What only folders need is loaded for them only. */
async function openTarget(
  { target: { kind, settings }, createUnder, signs }: Extract<DiskJob, { kind: 'write' }>,
  signer: Signer,
): Promise<DeploymentTarget> {
  switch (kind) {
    case 'valuesFile':
      return createValuesFileTarget(settings, { createUnder });
    case 'directory':
      return (await import('../targets/directory.ts')).createDirectoryTarget(settings, { createUnder });
    case 'airgap': {
      const { createAirgapTarget } = await import('../targets/airgap.ts');
      return createAirgapTarget(settings, { createUnder, signer: signs ? signer : undefined });
    }
  }
}

async function readFiles(files: readonly FileToRead[]): Promise<FileRead[]> {
  const limit = pLimit(READS);
  let hanging = 0;
  const read = async (file: FileToRead): Promise<FileRead> => {
    // Each holds a thread. The rest is read by another process.
    if (hanging >= READS) return 'unreadable';
    const result = await Promise.race([
      readValuesFile(file).catch(() => 'unreadable' as const),
      sleep(READ_MS, 'hangs' as const, { ref: false }),
    ]);
    if (result === 'hangs') hanging++;
    return result;
  };
  return await Promise.all(files.map((file) => limit(read, file)));
}

async function readValuesFile({ path, stamp: before }: FileToRead): Promise<FileRead> {
  const stamp = await stampOf(path);
  if (stamp !== null && stamp === before) return 'unchanged';
  return { stamp, ...(await createValuesFileTarget(path).readSwitches()) };
}

/** Null if there is no file. */
async function stampOf(path: string): Promise<string | null> {
  try {
    const { mtimeMs, ino, size } = await stat(path);
    return `${mtimeMs} ${ino} ${size}`;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
