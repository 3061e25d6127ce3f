import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { UsageError } from '../../cli/command-error.ts';
import { readSecret } from '../../cli/projects/read-secret.ts';
import { parseRepository } from '../../cli/projects/repository-url.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

describe('the URL of a repository', () => {
  const folder = emptiedFolder();

  test.each([
    ['https://github.com/acme/docs', 'https://github.com/acme/docs'],
    ['ssh://git@git.example.com:2222/acme/docs.git', 'ssh://git@git.example.com:2222/acme/docs.git'],
    ['git@github.com:acme/docs.git', 'ssh://git@github.com/acme/docs.git'],
  ])('is accepted in the usual forms: %s', async (text, url) => {
    expect(await parseRepository(text)).toEqual({ url, warning: undefined });
  });

  test('may be a folder, bare or with a work tree', async () => {
    writeFileSync(join(folder, 'HEAD'), '');
    const bare = relative(process.cwd(), folder);
    expect(await parseRepository(bare)).toEqual({ url: `file://${folder}`, warning: undefined });
    mkdirSync(join(folder, 'tree', '.git'), { recursive: true });
    writeFileSync(join(folder, 'tree', '.git', 'HEAD'), '');
    expect((await parseRepository(`file://${folder}/tree`)).warning).toBeUndefined();
  });

  test('is accepted with a warning if this machine has no such repository, because another one may have it', async () => {
    const url = `file://${folder}/missing`;
    expect(await parseRepository(`${folder}/missing`)).toEqual({
      url,
      warning: `Warning: there is no git repository at ${folder}/missing on this machine. The URL is stored anyway.`,
    });
  });

  test.each(['https://user:hidden@github.com/acme/docs', 'https://hidden@github.com/a/b', 'ssh://git:hidden@host/a'])(
    'is rejected with a secret in it, which the error does not repeat: %#',
    async (text) => {
      const refused = await parseRepository(text).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(UsageError);
      expect(String(refused)).toMatch(/--repository: expected a URL without user and password/);
      expect(String(refused)).not.toContain('hidden');
    },
  );
});

describe('a secret given as an option', () => {
  test('is used as given, or from standard input without its last line break', async () => {
    expect(await readSecret('--s', 'hush', Readable.from([]))).toBe('hush');
    expect(await readSecret('--s', '-', Readable.from(['hu', 'sh \n']))).toBe('hush ');
  });

  test('is required if standard input is empty', async () => {
    await expect(readSecret('--s', '-', Readable.from(['\n']))).rejects.toThrow('--s -: expected the secret');
  });
});
