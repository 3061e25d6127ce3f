import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { Command } from 'commander';
import { syncToDisk, writeDurably } from '../../base/durable-file.ts';
import { errorText } from '../../base/error-code.ts';
import { createBackup } from '../../programs/process/backup-archive.ts';
import { backedUpElsewhere, backupSources } from '../../programs/process/backup-sources.ts';
import { createContext } from '../../programs/process/context.ts';
import { type Home, OPERATOR_TOKEN_FILE, openHome } from '../../programs/process/home.ts';
import type { Settings } from '../../programs/settings/environment.ts';
import { formatBytes } from '../../ui/format.ts';
import { CommandError } from '../command-error.ts';
import { printJson } from '../output.ts';

export function backupCommand(): Command {
  return new Command('backup')
    .argument('<file>', 'the archive to write; an existing one is replaced when the new one is complete')
    .option('--json', 'print {file, sizeBytes, elsewhere}')
    .description('back up GALLEY_HOME, also beside a running `up`')
    .addHelpText(
      'after',
      '\nThe file is readable by its user only: it holds secrets, such as the operator token and the keys of links. It says\n' +
        'what has to be backed up by other means. galley restore puts it back.',
    )
    .action(backup);
}

async function backup(file: string, { json }: { json?: boolean }): Promise<void> {
  const { settings } = createContext({ quiet: true });
  const target = resolve(file);
  await withBackup(settings, (archive) => writeAtomically(target, archive));
  const { size: sizeBytes } = await stat(target);
  const elsewhere = backedUpElsewhere(settings);
  if (json) printJson({ file: target, sizeBytes, elsewhere });
  else {
    const lines = [`${file}: ${formatBytes(sizeBytes)}. It holds secrets.`, 'Not in it:'];
    process.stdout.write(`${[...lines, ...elsewhere.map((each) => `  ${each}`)].join('\n')}\n`);
  }
}

/** Gets the archive from the running `up`; if none runs, reads the files of the home, which stays locked meanwhile. */
async function withBackup(settings: Settings, use: (archive: Readable) => Promise<void>): Promise<void> {
  const home = openHome(settings.home);
  const running = await home.running();
  if (running !== undefined) return await use(await requestBackup(settings, home, running.control));
  if (!existsSync(settings.home)) throw new CommandError(`There is nothing to back up: ${settings.home} doesn't exist`);
  const unlock = await home.lock();
  try {
    await use(createBackup(backupSources(settings)));
  } finally {
    await unlock();
  }
}

async function requestBackup(settings: Settings, home: Home, controlUrl: string): Promise<Readable> {
  const { request } = await import('undici');
  const token = settings.operatorToken ?? (await home.readSecret(OPERATOR_TOKEN_FILE)) ?? '';
  const { statusCode, body } = await request(new URL('/backup', controlUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    // The first copies take as long as the databases are large.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  if (statusCode === 200) return body;
  throw new CommandError(`The running galley up made no backup: ${await body.text()}`);
}

async function writeAtomically(target: string, archive: Readable): Promise<void> {
  const draft = join(dirname(target), `.${basename(target)}.${randomUUID()}.tmp`);
  try {
    await writeDurably(draft, archive, 0o600);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw new CommandError(`${target} was not written: ${errorText(error)}`);
  }
  await syncToDisk(dirname(target));
}
