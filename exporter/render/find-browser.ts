import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { ExportFailure } from '../export-failure.ts';
import { errorMessage } from '../fetch/error-code.ts';
import type { BrowserTrouble, Renderer } from '../ports.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

/** The job's error message if it needs a browser and none is installed. */
export const BROWSER_MISSING =
  'the platform worker finds no browser: install Chromium (Debian and Ubuntu: apt-get install chromium) or Google ' +
  'Chrome on its PATH, or name the program in CHROMIUM_PATH';

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/**
 * The path of the browser: the configured program, else the first known name on the PATH. Undefined if there is none.
 * A configured program that is missing is not replaced by another.
 */
export async function findBrowser(options: {
  path: string | undefined;
  searchPath: string;
}): Promise<string | undefined> {
  const { path, searchPath } = options;
  if (path !== undefined && isAbsolute(path)) return (await isProgram(path)) ? path : undefined;
  const folders = searchPath.split(delimiter).filter((folder) => folder !== '');
  for (const name of path === undefined ? NAMES : [path]) {
    for (const folder of folders) {
      const candidate = join(folder, name);
      if (await isProgram(candidate)) return candidate;
    }
  }
  return undefined;
}

/** The job's error message if the browser is installed but doesn't start. */
export function startTrouble(error: unknown): BrowserTrouble {
  const text = errorMessage(error);
  if (/sandboxing failed/i.test(text)) {
    return {
      text: "Chromium's sandbox doesn't work for the platform worker: run it as another user than root and where user namespaces are allowed, or set CHROMIUM_SANDBOX=off",
      isLasting: true,
    };
  }
  return { text: `the platform worker's browser doesn't start: ${text.split('\n')[0]}`, isLasting: false };
}

/**
 * The browser for a project with `render: browser`. If none is installed or it can't start, the error is not retryable
 * and says what to do. A temporary failure is retryable.
 */
export async function needBrowser(pool: Renderer | undefined): Promise<Renderer> {
  const trouble = pool === undefined ? { text: BROWSER_MISSING, isLasting: true } : await pool.trouble();
  if (pool !== undefined && trouble === undefined) return pool;
  const message = `The project's pages are rendered in a browser (render: browser), but ${trouble?.text}`;
  if (trouble?.isLasting) throw new ExportFailure('ExportImpossible', message);
  throw new ExportFailure('BrowserTrouble', message, { nonRetryable: false });
}
