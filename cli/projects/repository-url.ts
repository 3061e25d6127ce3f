import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { UsageError } from '../command-error.ts';

/** `git@github.com:acme/docs.git`, git's short form: a host and a path, and no slash before the colon. */
const SHORT_SSH = /^(?:([\w.-]+)@)?([\w.-]+):(?!\/\/)(.+)$/;

/**
 * Normalizes a repository's URL: https, http, ssh or file, git's short form for ssh, or a local folder. Resolves with a
 * URL, and a warning if it doesn't look like a repository.
 * @throws UsageError if it contains a password, which belongs into FORGE_TOKEN.
 */
export async function parseRepository(text: string): Promise<{ url: string; warning: string | undefined }> {
  const url = asUrl(text);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && (parsed.password !== '' || (parsed.username !== '' && parsed.protocol !== 'ssh:')))
    throw new UsageError('--repository: expected a URL without user and password; see FORGE_TOKEN for those');
  return { url, warning: parsed?.protocol === 'file:' ? await warningOf(fileURLToPath(parsed)) : undefined };
}

function asUrl(text: string): string {
  if (text.includes('://')) return text;
  const [, user = 'git', host, path] = SHORT_SSH.exec(text) ?? [];
  if (host !== undefined && path !== undefined) return `ssh://${user}@${host}/${path.replace(/^\//, '')}`;
  return pathToFileURL(resolve(text)).href;
}

/** This is only a warning, because the platform worker that reads the folder may be on another machine. */
async function warningOf(folder: string): Promise<string | undefined> {
  for (const head of [join(folder, 'HEAD'), join(folder, '.git', 'HEAD')]) {
    const isThere = await access(head).then(
      () => true,
      () => false,
    );
    if (isThere) return undefined;
  }
  return `Warning: there is no git repository at ${folder} on this machine. The URL is stored anyway.`;
}
