import { ForgeError } from '../forge-error.ts';

/** Maps repository and page URLs of a hosted forge. URLs of other hosts are rejected, so that no token goes there. */

export type ForgeKind = 'github' | 'gitea';
export type RepositoryName = { owner: string; name: string };
export type PullRequestName = RepositoryName & { number: number };

export type ForgeUrls = {
  /** The API's base URL, without a trailing slash. */
  apiUrl: string;
  /** The web base URL, without a trailing slash. */
  webUrl: string;
  /** `overHttp`: git uses HTTP for this URL, so a token is useful. */
  repositoryOf(url: string): RepositoryName & { overHttp: boolean };
  pullRequestOf(url: string): PullRequestName;
};

const SEGMENT = '[A-Za-z0-9_.-]+';
const URL_RULES = {
  github: { api: '/api/v3', page: new RegExp(`^/(${SEGMENT})/(${SEGMENT})/pull/(\\d{1,15})(?:/|$)`) },
  gitea: { api: '/api/v1', page: new RegExp(`^/(${SEGMENT})/(${SEGMENT})/pulls/(\\d{1,15})(?:/|$)`) },
} as const;
const REPOSITORY_PATH = new RegExp(`^/?(${SEGMENT})/(${SEGMENT}?)(?:\\.git)?/?$`);

/**
 * @param given the forge's API or web URL, such as https://api.github.com, https://git.example.com/api/v3,
 *   https://git.example.com; default: github.com. Gitea has no default.
 * @throws ForgeError from the returned functions, never retryable, for another forge's URL.
 */
export function forgeUrls(kind: ForgeKind, given: string | undefined): ForgeUrls {
  const { apiUrl, web } = bases(kind, given);
  const webUrl = withoutSlash(web.href);
  const prefix = withoutSlash(web.pathname);
  const { page } = URL_RULES[kind];

  const below = (url: string): string | undefined => {
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (parsed?.origin !== web.origin || !parsed.pathname.startsWith(`${prefix}/`)) return undefined;
    return parsed.pathname.slice(prefix.length);
  };

  return {
    apiUrl,
    webUrl,
    repositoryOf(url) {
      const overHttp = below(url);
      const [, owner = '', name = ''] = REPOSITORY_PATH.exec(overHttp ?? sshPath(url, web.hostname) ?? '') ?? [];
      if (isName(owner) && isName(name)) return { owner, name, overHttp: overHttp !== undefined };
      throw foreign(`${withoutSecrets(url)} is no repository of ${webUrl}`);
    },
    pullRequestOf(url) {
      const [, owner = '', name = '', number] = page.exec(below(url) ?? '') ?? [];
      if (isName(owner) && isName(name) && Number(number) > 0) return { owner, name, number: Number(number) };
      throw foreign(`${withoutSecrets(url)} is no pull request of ${webUrl}`);
    },
  };
}

function bases(kind: ForgeKind, given: string | undefined): { apiUrl: string; web: URL } {
  if (given === undefined && kind === 'gitea')
    throw new TypeError('Gitea needs its url, such as https://git.example.com');
  const text = given ?? 'https://github.com';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`The url of a forge must begin with https:// or http://, got ${withoutSecrets(text)}`);
  }
  url.search = url.hash = url.username = url.password = '';
  const hosted = kind === 'github' ? hostedByGitHub(url) : undefined;
  if (hosted) return hosted;
  const { api } = URL_RULES[kind];
  const path = withoutSlash(url.pathname);
  url.pathname = path.endsWith(api) ? path.slice(0, -api.length) : path;
  return { apiUrl: `${withoutSlash(url.href)}${api}`, web: url };
}

/** github.com and companies' subdomains of ghe.com have their API on a separate host. */
function hostedByGitHub({ hostname }: URL): { apiUrl: string; web: URL } | undefined {
  const host = hostname.replace(/^(api|www)\./, '');
  if (host !== 'github.com' && !/^[a-z0-9-]+\.ghe\.com$/.test(host)) return undefined;
  return { apiUrl: `https://api.${host}`, web: new URL(`https://${host}`) };
}

/** The path of `git@host:owner/name.git` or `ssh://git@host:2222/owner/name.git`, whatever the port. */
function sshPath(url: string, hostname: string): string | undefined {
  const [, host, path] =
    /^ssh:\/\/(?:[^@/]*@)?(\[[^\]]*\]|[^:/@]+)(?::\d+)?(\/.*)$/i.exec(url) ??
    /^(?:[^@/:]+@)(\[[^\]]*\]|[^:/@]+):(?!\/\/)(.*)$/.exec(url) ??
    [];
  const ours = [hostname, ...(hostname === 'github.com' ? ['ssh.github.com'] : [])];
  return host !== undefined && ours.includes(host.toLowerCase()) ? path : undefined;
}

function isName(segment: string): boolean {
  return !['', '.', '..', '.git'].includes(segment);
}

function foreign(message: string): ForgeError {
  return new ForgeError(message, { status: null, retryable: false });
}

/** The URL as messages show it: the original may contain a password or a signature. */
function withoutSecrets(url: string): string {
  return url
    .replace(/[?#].*$/s, '')
    .replace(/\/\/[^@/]*@/, '//')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 200);
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, '');
}
