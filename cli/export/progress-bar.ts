import { createRequire } from 'node:module';
import { formatCount } from '../../ui/format.ts';

/** Shows an export's progress on standard error. */
interface ProgressBar {
  /** `progress` in percent. */
  update(state: { status: string; progress: number; pageCount: number }): void;
  stop(): void;
}

type Stream = NodeJS.WritableStream & { isTTY?: boolean };

/** Shows a bar on a terminal, otherwise prints a line at each tenth. */
export function createProgressBar(label: string, stream: Stream = process.stderr): ProgressBar {
  if (stream.isTTY !== true) return createProgressLines(label, stream);
  const { SingleBar }: typeof import('cli-progress') = createRequire(import.meta.url)('cli-progress');
  const bar = new SingleBar({
    stream,
    // Fits 80 columns but for the label; the terminal's edge cuts off the rest.
    format: `{bar} {percentage} % | {pages} pages, {rate}/s | {eta_formatted} left | {status} | ${label.trim()}`,
    barsize: 20,
    etaBuffer: 20,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    clearOnComplete: false,
  });
  const startedMs = Date.now();
  let shown = { pages: 0, rate: 0 };
  const rateOf = (pages: number): number => Math.round((pages * 1_000) / Math.max(Date.now() - startedMs, 1_000));
  bar.start(100, 0, { ...shown, status: 'queued' });
  return {
    update({ status, progress, pageCount }) {
      // The later stages find no pages, so the rate stays that of the crawl.
      if (pageCount > shown.pages) shown = { pages: pageCount, rate: rateOf(pageCount) };
      bar.update(Math.floor(progress), { ...shown, status });
    },
    stop: () => bar.stop(),
  };
}

function createProgressLines(label: string, stream: Stream): ProgressBar {
  let shown = '';
  return {
    update: ({ status, progress, pageCount }) => {
      const step = `${status} ${Math.floor(progress / 10)}`;
      if (step === shown) return;
      shown = step;
      stream.write(`${label} ${Math.floor(progress)} % | ${formatCount(pageCount, 'page')} | ${status}\n`);
    },
    stop: () => {},
  };
}
