import { ExportFailure } from '../export-failure.ts';
import type { Renderer } from '../ports.ts';
import { BROWSER_MISSING } from './find-browser.ts';

/**
 * The browser for a project with `render: browser`. If none is installed or it can't start, the error is not retryable
 * and says what to do. A temporary failure is retryable.
 */
export async function needBrowser(pool: Renderer | undefined): Promise<Renderer> {
  const trouble = pool === undefined ? { text: BROWSER_MISSING, isLasting: true } : await pool.trouble();
  if (pool !== undefined && trouble === undefined) return pool;
  const message = `The project's pages are to be drawn (render: browser), but ${trouble?.text}`;
  if (trouble?.isLasting) throw new ExportFailure('ExportImpossible', message);
  throw new ExportFailure('BrowserTrouble', message, { nonRetryable: false });
}
