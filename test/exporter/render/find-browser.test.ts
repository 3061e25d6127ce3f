import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { BrowserPool } from '../../../exporter/render/browser-pool.ts';
import { findBrowser, startTrouble } from '../../../exporter/render/find-browser.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const folder = temporaryFolder();

beforeAll(async () => {
  for (const name of ['google-chrome', 'my-browser']) {
    await writeFile(join(folder, name), '#!/bin/sh\n');
    await chmod(join(folder, name), 0o755);
  }
  await writeFile(join(folder, 'chromium'), 'no program');
});

describe('the browser', () => {
  it('is the configured program, or the first one with a usual name on the PATH', async () => {
    const searchPath = `/nowhere:${folder}`;
    expect(await findBrowser({ path: undefined, searchPath })).toBe(join(folder, 'google-chrome'));
    expect(await findBrowser({ path: 'my-browser', searchPath })).toBe(join(folder, 'my-browser'));
    expect(await findBrowser({ path: join(folder, 'my-browser'), searchPath: '' })).toBe(join(folder, 'my-browser'));
  });

  it('has a clear error message if it is missing or does not start', async () => {
    const findTrouble = async (path: string) => {
      const pool = new BrowserPool({ path, sandbox: false, searchPath: '', logger: pino({ level: 'silent' }) });
      return pool.trouble().finally(() => pool.close());
    };
    const trouble = (text: string, isLasting: boolean) => ({ text: expect.stringContaining(text), isLasting });
    expect(await findTrouble('/nowhere/chromium')).toEqual(trouble('finds no browser: install Chromium', true));
    expect(await findTrouble(join(folder, 'my-browser'))).toEqual(trouble("browser doesn't start", false));
    expect(startTrouble(new Error('Chromium sandboxing failed!'))).toEqual(trouble('CHROMIUM_SANDBOX=off', true));
  });

  it('is never another program than the configured one', async () => {
    expect(await findBrowser({ path: '/nowhere/chromium', searchPath: folder })).toBeUndefined();
    expect(await findBrowser({ path: undefined, searchPath: '' })).toBeUndefined();
  });
});
