import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { OPERATOR_TOKEN_FILE, openHome } from '../../programs/process/home.ts';
import { runService } from '../../programs/process/lifetime.ts';
import { readSettings } from '../../programs/settings/environment.ts';
import { galleyHere } from '../helpers/galley.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const parent = temporaryFolder();

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o7777;

/** A folder that existed before Galley, with these permissions. */
async function existing(name: string, mode: number): Promise<string> {
  const folder = join(parent, name);
  await mkdir(folder);
  await chmod(folder, mode);
  return folder;
}

describe('GALLEY_HOME', () => {
  it.each([0o755, 0o777, 0o2775])('becomes private if it existed with the mode %o', async (mode) => {
    const folder = await existing(`open-${mode}`, mode);
    await (await openHome(folder).lock())();
    expect(await modeOf(folder)).toBe(0o700);
  });

  it('becomes private when a program starts, before anything is put there', async () => {
    const folder = await existing('started', 0o755);
    const context = { settings: readSettings({ GALLEY_HOME: folder }), logger: pino({ level: 'silent' }) };
    let mode = 0;
    const started = runService(context, async () => {
      mode = await modeOf(folder);
      throw new Error('ends the program');
    });
    await expect(started).rejects.toThrow('ends the program');
    expect(mode).toBe(0o700);
  });

  it('is private with all that a deployment puts there, alone and if nothing was there', async () => {
    const [folder, values] = [join(parent, 'served'), join(parent, 'values.yaml')];
    await writeFile(values, 'staticExport: {enabled: perhaps}\n');
    const { code } = await galleyHere(
      ['deployment', '--values', values],
      { GALLEY_HOME: folder, DEPLOYMENT_PORT: '0' },
      parent,
    );
    expect(code).toBe(2);
    const made = await readdir(join(folder, 'deployments'));
    expect(made).toHaveLength(1);
    for (const path of ['.', 'deployments', join('deployments', made[0] ?? '')]) {
      expect([path, await modeOf(join(folder, path))]).toEqual([path, 0o700]);
    }
  });

  it('makes secrets private that were copied into it, and keeps their values', async () => {
    const folder = await existing('restored', 0o755);
    const file = join(folder, OPERATOR_TOKEN_FILE);
    await writeFile(file, 'token\n', { mode: 0o644 });
    expect(await openHome(folder).secret(OPERATOR_TOKEN_FILE)).toBe('token');
    expect(await modeOf(file)).toBe(0o600);
  });

  it('leaves a folder of everyone, such as /tmp, to everyone', async () => {
    const folder = await existing('shared', 0o1777);
    await openHome(folder).writeSecret(OPERATOR_TOKEN_FILE, 'token');
    expect(await modeOf(folder)).toBe(0o1777);
    expect(await modeOf(join(folder, OPERATOR_TOKEN_FILE))).toBe(0o600);
  });
});
