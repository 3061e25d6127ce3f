import type { FileHandle } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';

/** The size of one read. A smaller one costs more calls, a larger one more memory for each slow client. */
const READ_BYTES = 256 * 1024;

/** Buffers to use again: the system hands out memory of this size page by page, which costs more than reading a file. */
const idle: Buffer[] = [];
const MAX_IDLE = 64;

/**
 * Sends a part of a file, from the byte `start` to the byte `end`, and ends the response. Reads no faster than the
 * client does, and ends early with the connection.
 */
export async function streamFile(
  handle: FileHandle,
  { start, end }: { start: number; end: number },
  res: ServerResponse,
): Promise<void> {
  const buffer = idle.pop() ?? Buffer.allocUnsafeSlow(READ_BYTES);
  for (let position = start; position <= end; ) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(READ_BYTES, end + 1 - position), position);
    if (bytesRead === 0) throw new Error('a file is shorter than its manifest says');
    position += bytesRead;
    // The buffer of a broken connection isn't used again: the system may still read from it.
    if (!(await write(res, buffer.subarray(0, bytesRead), position > end))) return;
  }
  if (idle.length < MAX_IDLE) idle.push(buffer);
}

/** Resolves to true when the system has taken the bytes, and to false if the connection ends first. */
async function write(res: ServerResponse, bytes: Buffer, isLast: boolean): Promise<boolean> {
  if (res.destroyed) return false;
  return await new Promise((resolve) => {
    const broken = (): void => resolve(false);
    res.once('close', broken);
    const taken = (error?: Error | null): void => {
      res.off('close', broken);
      resolve(error === undefined || error === null);
    };
    if (isLast) res.end(bytes, taken);
    else res.write(bytes, taken);
  });
}
