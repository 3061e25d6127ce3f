import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { deploymentFolder, openHome } from '../../programs/process/home.ts';
import { createLifetime } from '../../programs/process/lifetime.ts';
import { deleteUnlisted, sweepUnlisted, UNLISTED_DAYS } from '../../programs/process/unlisted-deployments.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const home = temporaryFolder();
const DAY_MS = 86_400_000;
const START_MS = Date.parse('2026-01-01T12:00:00Z');

let count = 0;
let parent: string;
beforeEach(() => {
  count += 1;
  parent = join(home, `${count}`);
});

const nameOf = (valuesFile: string): string => deploymentFolder(valuesFile)[1];

/** The folder of a values file, with a version. */
async function served(valuesFile: string, ...others: string[]): Promise<string> {
  const folder = join(parent, nameOf(valuesFile));
  for (const name of ['versions', 'downloads', ...others]) await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, 'state.json'), '{}');
  await writeFile(join(folder, 'versions', 'page.html'), 'page');
  return folder;
}

const sweep = async (day: number, ...valuesFiles: string[]): Promise<string[]> =>
  await sweepUnlisted({ parent, listed: new Set(valuesFiles.map(nameOf)), now: new Date(START_MS + day * DAY_MS) });

async function sweepDays(from: number, to: number, ...valuesFiles: string[]): Promise<string[]> {
  const deleted: string[] = [];
  for (let day = from; day <= to; day++) deleted.push(...(await sweep(day, ...valuesFiles)));
  return deleted;
}

describe('the folder of a values file that no deployment has any more', () => {
  it('is deleted after 30 days on which a deployment ran, and a listed one never', async () => {
    const [old, kept] = [await served('old.yaml'), await served('kept.yaml')];
    expect(await sweepDays(0, UNLISTED_DAYS - 1, 'kept.yaml')).toEqual([]);
    expect(existsSync(join(old, 'versions', 'page.html'))).toBe(true);
    expect(await sweep(UNLISTED_DAYS, 'kept.yaml')).toEqual([old]);
    expect(await readdir(parent)).toEqual([nameOf('kept.yaml')]);
    expect(await readdir(kept)).toHaveLength(3);
  });

  it('stays while the machine is off, and through many starts on one day', async () => {
    await served('old.yaml');
    for (let start = 0; start < 100; start++) expect(await sweep(0)).toEqual([]);
    expect(await sweep(400)).toEqual([]);
  });

  it('is counted anew after it was listed, by this process or another one', async () => {
    const folder = await served('old.yaml');
    await sweepDays(0, UNLISTED_DAYS - 1);
    await sweep(UNLISTED_DAYS, 'old.yaml');
    expect(await sweepDays(UNLISTED_DAYS, 2 * UNLISTED_DAYS - 1)).toEqual([]);
    expect(await sweep(2 * UNLISTED_DAYS)).toEqual([folder]);
  });

  it('stays if anything else is in it, or if it is no folder of a deployment', async () => {
    await served('old.yaml', 'notes');
    const elsewhere = join(home, 'elsewhere');
    await mkdir(elsewhere, { recursive: true });
    await symlink(elsewhere, join(parent, '0123456789abcdef'));
    await mkdir(join(parent, 'backup'));
    await writeFile(join(parent, 'fedcba9876543210'), 'a file');
    const before = (await readdir(parent)).sort();
    expect(await sweepDays(0, 2 * UNLISTED_DAYS)).toEqual([]);
    expect((await readdir(parent)).sort()).toEqual(before);
  });

  it('is deleted when a program starts its deployments, which keep their own', async () => {
    const values = join(home, 'values.yaml');
    parent = join(home, 'running', 'deployments');
    const [old, own] = [await served('old.yaml'), await served(values)];
    const days = Array.from({ length: UNLISTED_DAYS }, (_, day) => `2026-01-${String(day + 1).padStart(2, '0')}`);
    for (const folder of [old, own]) await writeFile(join(folder, 'unlisted.json'), JSON.stringify(days));
    const logger = pino({ level: 'silent' });
    const lifetime = createLifetime(logger);
    await deleteUnlisted([values], { home: openHome(join(home, 'running')), logger, lifetime });
    await lifetime.stop();
    expect([existsSync(old), await readdir(parent)]).toEqual([false, [nameOf(values)]]);
    expect(existsSync(join(own, 'unlisted.json'))).toBe(false);
  });

  it('is counted from the beginning if the count is damaged', async () => {
    const folder = await served('old.yaml');
    await writeFile(join(folder, 'unlisted.json'), '[1,');
    expect(await sweep(0)).toEqual([]);
    expect(JSON.parse(readFileSync(join(folder, 'unlisted.json'), 'utf8'))).toEqual(['2026-01-01']);
  });
});
