import { formatBytes } from '../run-outcome.ts';
import { RunFailure } from './run-failure.ts';

/** Writes lines to a run's log. The returned function throws a RunFailure once the limit is exceeded. */
export function createModelLog(log: (chunk: Uint8Array) => void, limitBytes: number): (line: string) => void {
  let leftBytes = limitBytes;
  return (line) => {
    const bytes = Buffer.from(`${line}\n`, 'utf8');
    if (leftBytes > 0) log(bytes.subarray(0, leftBytes));
    leftBytes -= bytes.length;
    if (leftBytes < 0) throw new RunFailure(`The model said more than ${formatBytes(limitBytes)}, its limit.`);
  };
}
