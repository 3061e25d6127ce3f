import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createBrowserPool } from '../../../exporter/render/browser-pool.ts';
import { findBrowser, startTrouble } from '../../../exporter/render/find-browser.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-find-browser-'));
  for (const name of ['google-chrome', 'my-browser']) {
    await writeFile(join(folder, name), '#!/bin/sh\n');
    await chmod(join(folder, name), 0o755);
  }
  await writeFile(join(folder, 'chromium'), 'no program');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the browser', () => {
  it('is the first program of the usual names on the PATH, or the one that is named', async () => {
    const searchPath = `/nowhere:${folder}`;
    expect(await findBrowser({ path: undefined, searchPath })).toBe(join(folder, 'google-chrome'));
    expect(await findBrowser({ path: 'my-browser', searchPath })).toBe(join(folder, 'my-browser'));
    expect(await findBrowser({ path: join(folder, 'my-browser'), searchPath: '' })).toBe(join(folder, 'my-browser'));
  });

  it('says in a sentence that it is not there, or does not start', async () => {
    const troubleOf = async (path: string) => {
      const pool = createBrowserPool({ path, sandbox: false, searchPath: '', logger: pino({ level: 'silent' }) });
      return pool.trouble().finally(() => pool.close());
    };
    const told = (text: string, isLasting: boolean) => ({ text: expect.stringContaining(text), isLasting });
    expect(await troubleOf('/nowhere/chromium')).toEqual(told('finds no browser: install Chromium', true));
    expect(await troubleOf(join(folder, 'my-browser'))).toEqual(told("browser doesn't start", false));
    expect(startTrouble(new Error('Chromium sandboxing failed!'))).toEqual(told('CHROMIUM_SANDBOX=off', true));
  });

  it('is never another than the one that is named', async () => {
    expect(await findBrowser({ path: '/nowhere/chromium', searchPath: folder })).toBeUndefined();
    expect(await findBrowser({ path: undefined, searchPath: '' })).toBeUndefined();
  });
});
