import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { errorCode } from '../../../../base/error-code.ts';

/** What the wrapper shell reports about its end. `why` is one of its own words, `detail` git's message. */
type Ending =
  | { kind: 'unchanged' }
  | { kind: 'changed'; tree: string; packFile: string }
  | { kind: 'failed'; why: string; detail: string }
  | { kind: 'broken'; detail: string };

/** Fields stay null if the processes ended before reporting them. */
export type RunReport = { ready: boolean; exitCode: number | null; ending: Ending | null };

type ChannelOptions = {
  /** Where the pack is written. */
  packFile: string;
  changeLimitBytes: number;
  onReady?: () => void;
  onExit?: (code: number) => void;
};

/** Far longer than any valid line. The agent can write to this channel too, so memory must be bounded. */
const MAX_LINE_BYTES = 4096;

/**
 * Reads the wrapper shell's report until the channel ends or the caller destroys it. An agent that writes to the
 * channel can only misreport its own work, as it could through its files.
 */
export async function readRunReport(channel: Readable, options: ChannelOptions): Promise<RunReport> {
  const report: RunReport = { ready: false, exitCode: null, ending: null };
  const chunks = chunksOf(channel);
  let rest = Buffer.alloc(0);
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    rest = Buffer.concat([rest, next.value]);
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
      const line = rest.subarray(0, end).toString('utf8');
      rest = rest.subarray(end + 1);
      const pack = takeLine(line, report, options);
      if (pack !== undefined) {
        const isWhole = await writePack(chunks, rest, pack.sizeBytes, options.packFile);
        report.ending = isWhole ? { kind: 'changed', tree: pack.tree, packFile: options.packFile } : null;
        return report;
      }
    }
    if (rest.length > MAX_LINE_BYTES) rest = Buffer.alloc(0);
  }
  return report;
}

async function* chunksOf(channel: Readable): AsyncGenerator<Buffer, void> {
  try {
    yield* channel;
  } catch (error) {
    if (errorCode(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

/** Stores a line's report; returns the rest of the data if a pack follows. */
function takeLine(
  line: string,
  report: RunReport,
  options: ChannelOptions,
): { tree: string; sizeBytes: number } | undefined {
  const [word = '', first = '', ...others] = line.split(' ');
  const detail = others.join(' ');
  if (word === 'ready' && !report.ready) {
    report.ready = true;
    options.onReady?.();
  } else if (word === 'exit' && /^\d{1,3}$/.test(first) && report.exitCode === null) {
    report.exitCode = Number(first);
    options.onExit?.(report.exitCode);
  } else if (word === 'unchanged') {
    report.ending = { kind: 'unchanged' };
  } else if (word === 'failed') {
    report.ending = { kind: 'failed', why: first, detail };
  } else if (word === 'broken') {
    report.ending = { kind: 'broken', detail: [first, ...others].join(' ') };
  } else if (word === 'changed' && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(first)) {
    const sizeBytes = /^\d{1,15}$/.test(detail) ? Number(detail) : Number.POSITIVE_INFINITY;
    if (sizeBytes <= options.changeLimitBytes) return { tree: first, sizeBytes };
    report.ending = { kind: 'failed', why: 'large', detail: '' };
  }
  return undefined;
}

/** Writes exactly that many bytes; false if the channel ended before. */
async function writePack(
  chunks: AsyncIterator<Buffer>,
  start: Buffer,
  sizeBytes: number,
  packFile: string,
): Promise<boolean> {
  const file = await open(packFile, 'w');
  try {
    let missing = sizeBytes;
    let bytes: Buffer | undefined = start;
    while (bytes !== undefined) {
      const part: Buffer = bytes.subarray(0, missing);
      await file.writeFile(part);
      missing -= part.length;
      const next: IteratorResult<Buffer, unknown> = await chunks.next();
      bytes = next.done ? undefined : next.value;
    }
    return missing === 0;
  } finally {
    await file.close();
  }
}
