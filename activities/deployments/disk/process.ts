/**
 * The program of a disk process (processes.ts), which does the file operations of some deployments. Its argument is the
 * longest time that one operation may take, in milliseconds.
 */
import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { errorCode, errorText } from '../../../base/error-code.ts';
import type { DeploymentTarget } from '../deployment-target.ts';
import { ValuesFileError } from '../edit-values.ts';
import { createValuesFileTarget } from '../values-file.ts';
import { type DiskJob, type DiskResponse, diskRequest, type FileRead, type FileToRead } from './messages.ts';

const hangsAfterMs = Number(process.argv[2]);

/** Node's names of what occupies a thread of the pool until the file system responds. */
const OPERATIONS = new Set(['FSREQPROMISE', 'FSREQCALLBACK', 'FILEHANDLECLOSEREQ']);
const CHECK_MS = 500;

/** A read that takes longer isn't awaited: the other files must not wait for it. */
const READ_MS = 2_000;
const READS = 16;

const jobId = new AsyncLocalStorage<number>();
const running = new Map<number, AbortController>();
const signing = new Map<number, (signature: string) => void>();
const operations = new Map<number, { job: number; sinceMs: number }>();

createHook({
  init(id, type) {
    const job = OPERATIONS.has(type) ? jobId.getStore() : undefined;
    if (job !== undefined) operations.set(id, { job, sinceMs: performance.now() });
  },
  before: (id) => void operations.delete(id),
  destroy: (id) => void operations.delete(id),
}).enable();

setInterval(() => {
  const late = [...operations].filter(([, { sinceMs }]) => performance.now() - sinceMs >= hangsAfterMs);
  for (const [id, { job }] of late) {
    operations.delete(id);
    send({ id: job, hangs: true });
  }
}, CHECK_MS);

process.on('message', (message) => {
  const request = diskRequest.parse(message);
  if ('abort' in request) running.get(request.id)?.abort();
  else if ('signature' in request) signing.get(request.id)?.(request.signature);
  else void jobId.run(request.id, () => answer(request.id, request.job, request.signs));
});
process.on('disconnect', end);
// The worker may have ended before this line.
if (!process.connected) end();
// Ctrl-C reaches the whole group, and the worker first lets its writes end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);

/** `process.exit` would wait for the threads that hang. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

function send(response: DiskResponse): void {
  process.send?.(response);
}

async function answer(id: number, job: DiskJob, signs: boolean): Promise<void> {
  const aborting = new AbortController();
  running.set(id, aborting);
  try {
    if (job.kind === 'read') return send({ id, files: await readFiles(job.files) });
    const { write } = job;
    const target = await openTarget(id, job, signs);
    send({ id, report: await target.write(write, { site: write.site, signal: aborting.signal }) });
  } catch (error) {
    send({ id, error: errorText(error), isInvalidFile: error instanceof ValuesFileError });
  } finally {
    running.delete(id);
  }
}

/** What only folders need is loaded for them only. */
async function openTarget(
  id: number,
  { target: { kind, settings }, createUnder }: Extract<DiskJob, { kind: 'write' }>,
  signs: boolean,
): Promise<DeploymentTarget> {
  switch (kind) {
    case 'valuesFile':
      return createValuesFileTarget(settings, { createUnder });
    case 'directory':
      return (await import('../targets/directory.ts')).createDirectoryTarget(settings, { createUnder });
    case 'airgap': {
      const signer = signs ? { sign: (bytes: Uint8Array) => signElsewhere(id, bytes) } : undefined;
      return (await import('../targets/airgap.ts')).createAirgapTarget(settings, { createUnder, signer });
    }
  }
}

/** The key stays with the worker. */
async function signElsewhere(id: number, bytes: Uint8Array): Promise<string> {
  const signature = new Promise<string>((resolve) => signing.set(id, resolve));
  send({ id, sign: Buffer.from(bytes).toString('base64') });
  return await signature.finally(() => signing.delete(id));
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
