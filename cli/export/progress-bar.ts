import { SingleBar } from 'cli-progress';
import type { JobState } from './admin-api-client.ts';

/** Shows a job's progress on standard error. */
export interface ProgressBar {
  update(state: Pick<JobState, 'status' | 'progress' | 'pageCount'>): void;
  stop(): void;
}

/** Without a terminal, prints a line at each tenth instead of a bar. */
export function createProgressBar(label: string, stream: NodeJS.WriteStream = process.stderr): ProgressBar {
  if (!stream.isTTY) return createProgressLines(label, stream);
  const bar = new SingleBar({
    stream,
    format: `${label} {bar} {percentage} % | {pages} pages | {status} | {duration_formatted}`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    clearOnComplete: false,
  });
  bar.start(100, 0, { pages: 0, status: 'queued' });
  return {
    update: ({ status, progress, pageCount }) =>
      bar.update(Math.floor(progress ?? 0), { pages: pageCount ?? 0, status }),
    stop: () => bar.stop(),
  };
}

function createProgressLines(label: string, stream: NodeJS.WriteStream): ProgressBar {
  let shown = '';
  return {
    update: ({ status, progress, pageCount }) => {
      const step = `${status} ${Math.floor((progress ?? 0) / 10)}`;
      if (step === shown) return;
      shown = step;
      stream.write(`${label} ${Math.floor(progress ?? 0)} % | ${pageCount ?? 0} pages | ${status}\n`);
    },
    stop: () => {},
  };
}
