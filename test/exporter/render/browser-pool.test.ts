import { access, chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { ExportFailure } from '../../../exporter/export-failure.ts';
import type { Renderer } from '../../../exporter/ports.ts';
import { BrowserGone, BrowserPool } from '../../../exporter/render/browser-pool.ts';
import { needBrowser } from '../../../exporter/render/find-browser.ts';

let folder: string;
let pool: Renderer;

/** The browser is a fake program that never becomes ready. It ends when the test creates the file `end`. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-browser-pool-'));
  const path = join(folder, 'browser');
  await writeFile(
    path,
    `#!/bin/sh\necho "$HOME" > ${folder}/home\ntouch "$HOME/left"\nuntil [ -e ${folder}/end ]; do sleep 0.05; done\n`,
  );
  await chmod(path, 0o755);
  const logger = pino({ level: 'silent' });
  pool = new BrowserPool({
    path,
    sandbox: false,
    searchPath: process.env.PATH ?? '',
    logger,
    limits: { pagesAtOnce: 1 },
  });
});

afterEach(async () => {
  await writeFile(join(folder, 'end'), '');
  await pool.close();
  await rm(folder, { recursive: true, force: true });
});

const work = async (): Promise<string> => 'done';

describe('the browser pool', () => {
  it('frees the place of an aborted caller, and leaves no files on the disk', async () => {
    const stay = new AbortController();
    const first = pool.use({}, stay.signal, work).catch(() => 'no browser');
    const leaving = new AbortController();
    const second = pool.use({}, leaving.signal, work);
    const third = pool.use({}, stay.signal, work).catch(() => 'no browser');
    leaving.abort(new Error('canceled'));
    await expect(second).rejects.toThrow('canceled');
    await expect(pool.use({}, leaving.signal, work)).rejects.toThrow('canceled');
    await writeFile(join(folder, 'end'), '');
    expect(await Promise.all([first, third])).toEqual(['no browser', 'no browser']);
    // All places are free again, so a new caller gets one.
    const last = pool.use({}, stay.signal, work);
    await expect(last).rejects.toThrow(/did not start: .*(closed|exit)/i);
    // The error makes the caller retry the page, as after a crash.
    await expect(last).rejects.toBeInstanceOf(BrowserGone);
    const home = (await readFile(join(folder, 'home'), 'utf8')).trim();
    expect(dirname(home)).toBe(tmpdir());
    await expect(access(home)).rejects.toThrow('ENOENT');
  });
});

describe('an export with rendered pages', () => {
  it('fails permanently without a browser, and retries if the browser did not start', async () => {
    await writeFile(join(folder, 'end'), '');
    const failureOf = (of: Renderer | undefined) => needBrowser(of).catch((error: unknown) => error);
    const missing = await failureOf(undefined);
    expect(missing).toBeInstanceOf(ExportFailure);
    expect(missing).toMatchObject({ nonRetryable: true, message: expect.stringContaining('install Chromium') });
    expect(await failureOf(pool)).toMatchObject({ nonRetryable: false, message: expect.stringContaining('start') });
  });
});
