import { ExportFailure } from '../export-failure.ts';
import type { Renderer } from '../ports.ts';
import { BROWSER_MISSING } from './find-browser.ts';

/**
 * The browser for a project that wants its pages drawn. Fails for good, with what to do, where there is none or none can
 * start; where it didn't start this once, another try may do better.
 */
export async function needBrowser(pool: Renderer | undefined): Promise<Renderer> {
  const trouble = pool === undefined ? { text: BROWSER_MISSING, isLasting: true } : await pool.trouble();
  if (pool !== undefined && trouble === undefined) return pool;
  const message = `The project's pages are to be drawn (render: browser), but ${trouble?.text}`;
  if (trouble?.isLasting) throw new ExportFailure('ExportImpossible', message);
  throw new ExportFailure('BrowserTrouble', message, { nonRetryable: false });
}
