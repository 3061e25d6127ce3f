import type { GitCredentials } from '../forge.ts';

/** Search path for git and what it starts, unless the caller gives another. */
const PATH = '/usr/local/bin:/usr/bin:/bin';

/** Configuration of every git process, whatever a repository or the machine has configured. */
const CONFIGURATION: readonly (readonly [string, string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.protectHFS', 'true'],
  ['core.protectNTFS', 'true'],
  ['core.quotePath', 'false'],
  // Stream larger files instead of loading them, in case a pack unpacks to a thousand times its size.
  ['core.bigFileThreshold', '64m'],
  // How long to wait for another process that changes the same branch. By default, git waits only 100 ms.
  ['core.filesRefLockTimeout', '5000'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['protocol.version', '2'],
  // Of the keys that sign commits.
  ['gpg.format', 'ssh'],
  // An empty value resets inherited helpers.
  ['credential.helper', ''],
  // A server slower than this for half a minute counts as stalled.
  ['http.lowSpeedLimit', '100'],
  ['http.lowSpeedTime', '30'],
];

/**
 * Reads the environment, which other users can't read, unlike an argument list. Configured for one host, so that a
 * redirect doesn't leak credentials.
 */
const CREDENTIAL_HELPER =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$GALLEY_GIT_USERNAME" "$GALLEY_GIT_PASSWORD"; }; f';

/**
 * The whole environment of a git process: it inherits only `inherited` (a path, proxies, an SSH agent). Configuration
 * of the user or the machine is ignored, and git never prompts on a terminal.
 */
export function gitEnvironment({
  inherited = {},
  access,
}: {
  inherited?: Readonly<Record<string, string>>;
  access?: { repository: string; credentials: GitCredentials | null };
}): Record<string, string> {
  const credentials = access?.credentials ?? null;
  const configuration =
    access === undefined || credentials === null
      ? CONFIGURATION
      : [...CONFIGURATION, [`credential.${new URL(access.repository).origin}.helper`, CREDENTIAL_HELPER] as const];
  return {
    PATH,
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_SSH_COMMAND: 'ssh -oBatchMode=yes -oConnectTimeout=15',
    GIT_CONFIG_GLOBAL: '/dev/null',
    ...inherited,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ALLOW_PROTOCOL: 'https:http:ssh:file',
    ...(credentials && { GALLEY_GIT_USERNAME: credentials.username, GALLEY_GIT_PASSWORD: credentials.password }),
    GIT_CONFIG_COUNT: String(configuration.length),
    ...Object.fromEntries(
      configuration.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}
