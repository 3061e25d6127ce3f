import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { galleyHere } from '../helpers/galley.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();

/** Fails before the origin is asked, which doesn't exist. */
async function proving(options: readonly string[], variables: Record<string, string> = {}) {
  await mkdir(join(folder, 'bin'), { recursive: true });
  const command = ['export', 'docs.example.com', '--origin', 'http://127.0.0.1:9', '--out', 'site', ...options];
  const finished = await galleyHere(command, { PATH: join(folder, 'bin'), GALLEY_HOME: folder, ...variables }, folder);
  expect(await readdir(folder)).toEqual(['bin']);
  return finished;
}

it('says how to get a browser if there is none, before the export', async () => {
  const { code, stderr } = await proving(['--prove']);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/--prove needs a browser: install Chromium.*CHROMIUM_PATH/),
  ]);
  const named = await proving(['--prove'], { CHROMIUM_PATH: '/nowhere/chromium' });
  expect([named.code, named.stderr]).toEqual([2, expect.stringContaining('CHROMIUM_PATH: expected a program')]);
});

it('accepts a number of pages or all, and --fail-on proof only with --prove', async () => {
  for (const pages of ['0', 'most', '-1']) {
    const { code, stderr } = await proving([`--prove=${pages}`]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('expected a number of pages from 1, or all')]);
  }
  for (const pages of ['3', 'all']) expect((await proving([`--prove=${pages}`])).code).toBe(1);
  const { code, stderr } = await proving(['--fail-on', 'proof']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--fail-on proof needs --prove')]);
});
