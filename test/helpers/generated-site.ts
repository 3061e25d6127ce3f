import { createInterface } from 'node:readline';
import { spawnGuarded } from '../../embedded/guarded-child.ts';
import {
  CONTROL_PATH,
  type GeneratedSiteChange,
  type GeneratedSiteOptions,
  type RequestCounts,
} from './generated-site/options.ts';

export type GeneratedSite = {
  /** `http://127.0.0.1:port`, for a project's `--origin`. */
  url: string;
  requestCounts(): Promise<RequestCounts>;
  resetCounts(): Promise<void>;
  /** Edits pages, or slows the site down, while it is served. */
  change(change: GeneratedSiteChange): Promise<void>;
  stop(): Promise<void>;
};

/** Serves a documentation site of any size, generated from a seed, in a child process that ends with this one. */
export async function startGeneratedSite(options: GeneratedSiteOptions): Promise<GeneratedSite> {
  const child = spawnGuarded(
    process.execPath,
    ['--import', './scripts/typescript.js', 'test/helpers/generated-site/main.ts', JSON.stringify(options)],
    { PATH: process.env.PATH ?? '', NODE_OPTIONS: '--no-warnings' },
  );
  const url = await new Promise<string>((resolve, reject) => {
    if (child.process.stdout) {
      createInterface({ input: child.process.stdout }).once('line', (line) => resolve(line.replace('ready ', '')));
    }
    void child.exited.then(() => reject(new Error(`The generated site did not start:\n${child.output()}`)));
  });

  async function control(method: 'GET' | 'POST' | 'DELETE', change?: GeneratedSiteChange): Promise<RequestCounts> {
    const body = change === undefined ? {} : { body: JSON.stringify(change) };
    const response = await fetch(`${url}${CONTROL_PATH}`, { method, ...body });
    const counts: RequestCounts = JSON.parse(await response.text());
    return counts;
  }

  return {
    url,
    requestCounts: () => control('GET'),
    resetCounts: async () => {
      await control('DELETE');
    },
    change: async (change) => {
      await control('POST', change);
    },
    stop: () => child.stop(),
  };
}
