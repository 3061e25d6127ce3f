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
    format: `${label} {bar} {percentage} % | {pages} pages, {rate}/s | {status} | {eta_formatted} left`,
    etaBuffer: 20,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    clearOnComplete: false,
  });
  const startedMs = Date.now();
  const rateOf = (pages: number): number => Math.round((pages * 1_000) / Math.max(Date.now() - startedMs, 1_000));
  bar.start(100, 0, { pages: 0, rate: 0, status: 'queued' });
  return {
    update({ status, progress, pageCount }) {
      const pages = pageCount ?? 0;
      bar.update(Math.floor(progress ?? 0), { pages, rate: rateOf(pages), status });
    },
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
