import type { Settings } from './environment.ts';

/** The variables that are handed on to another program. */
export function pick(variables: Settings['variables'], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = variables[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** The worker's variables that git gets: the search path, proxies, and keys for SSH. */
export const FOR_GIT = [
  'PATH',
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]),
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO', 'SSH_AUTH_SOCK', 'GIT_SSH_COMMAND'],
];
