/**
 * Why git failed: `missing` (no such repository, branch or commit), `refused` (access denied), `rejected` (the push was
 * rejected), `broken` (objects that fail the checks), `conflict` (a branch has moved), `unreachable` (no response, or a
 * temporary error), `timeout`, `other`.
 */
export type GitFailureReason =
  | 'missing'
  | 'refused'
  | 'rejected'
  | 'broken'
  | 'conflict'
  | 'unreachable'
  | 'timeout'
  | 'other';

/** Reasons for which a retry doesn't help. */
const PERMANENT: readonly GitFailureReason[] = ['missing', 'refused', 'rejected', 'broken', 'conflict'];

/** Thrown if git fails. The message is one sentence for people, without secrets. */
export class GitError extends Error {
  override readonly name = 'GitError';
  readonly reason: GitFailureReason;
  readonly retryable: boolean;

  constructor(message: string, reason: GitFailureReason) {
    super(message);
    this.reason = reason;
    this.retryable = !PERMANENT.includes(reason);
  }
}

const SENTENCE_CHARACTERS = 300;

/** Patterns of messages from git and servers, in English, because git runs without a locale. The first match counts. */
const SIGNS: readonly [GitFailureReason, RegExp][] = [
  ['refused', /Authentication failed|could not read (?:Username|Password)|terminal prompts disabled/i],
  ['refused', /Permission denied \(|Host key verification failed|Access denied|returned error: 40[13]\b/i],
  ['refused', /Permission to \S+ denied|Write access to repository not granted|dubious ownership/i],
  ['refused', /insufficient permission for adding an object|permission denied/i],
  ['missing', /repository '[^']*' not found|Repository not found|does not appear to be a git repository/i],
  ['missing', /repository '[^']*' does not exist|not a git repository/i],
  ['missing', /couldn't find remote ref|not our ref|no such remote ref|unadvertised object|shallow file has changed/i],
  ['unreachable', /returned error: (?:408|429|5\d\d)\b|Could not resolve|Failed to connect|Couldn't connect/i],
  ['unreachable', /Connection (?:refused|reset|timed out|closed)|Operation (?:timed out|too slow)/i],
  ['unreachable', /early EOF|unexpected disconnect|remote end hung up|RPC failed|\bTLS\b|SSL_ERROR|gnutls/i],
  ['refused', /transport '[^']*' not allowed/i],
];

const SENTENCES: Partial<Record<GitFailureReason, string>> = {
  missing: 'the repository, branch or commit does not exist',
  refused: 'the repository refused access',
  unreachable: "the repository can't be reached",
};

/** The error for a failed git, from its standard error. It never contains `secrets` or the user part of URLs. */
export function explainFailure(stderr: string, command: string, secrets: readonly string[]): GitError {
  const reason = SIGNS.find(([, sign]) => sign.test(stderr))?.[0] ?? 'other';
  return new GitError(`${SENTENCES[reason] ?? `git ${command} failed`}: ${tellingLine(stderr, secrets)}`, reason);
}

/** What a server says about a rejection, such as the rule that a push broke; '' if nothing. */
export function remoteWords(stderr: string, secrets: readonly string[]): string {
  const words = linesOf(stderr).flatMap((line) => /^remote: +(?:error: *)?(.*)$/.exec(line)?.[1] ?? []);
  return clean(words.filter((line) => line !== '').join(' '), secrets);
}

function tellingLine(stderr: string, secrets: readonly string[]): string {
  const lines = linesOf(stderr);
  const [unsound, fatal, error] = [/^error: object [0-9a-f]+: /, /^fatal: /, /^error: /].map((sign) =>
    lines.find((line) => sign.test(line)),
  );
  // If an object fails the checks, the last line only says that one did.
  const cause = unsound ?? fatal ?? error;
  const line = cause?.replace(/^(?:fatal|error): /, '') ?? lines.at(-1) ?? 'it failed without a message';
  return clean(line, secrets);
}

function linesOf(text: string): string[] {
  return text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** One line, limited, without secrets, control characters and the user part of URLs. */
function clean(text: string, secrets: readonly string[]): string {
  const masked = secrets.reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '***')), text);
  return masked
    .replaceAll(/\/\/[^/\s@']+@/g, '//')
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .slice(0, SENTENCE_CHARACTERS);
}
