import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { errorMessage } from '../fetch/error-code.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

/** What a job says that needs a browser where there is none. */
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
 * The browser's program: the one that was named, else the first of the usual names on the PATH. Undefined where there
 * is none; a named one that isn't there is not replaced by another.
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

/** Why there is no browser to work with, in words for whoever can mend it. */
export type BrowserTrouble = {
  text: string;
  /** It will be the same the next time, unless somebody mends it. A machine that is short of something recovers. */
  isLasting: boolean;
};

/** What a job says where the browser is there and doesn't start. */
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
