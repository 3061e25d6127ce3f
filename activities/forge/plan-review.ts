import { Context } from '@temporalio/activity';
import { z } from 'zod';
import type { ForgeReader } from '../../forge/forge.ts';
import { ForgeError } from '../../forge/forge-error.ts';
import { heartbeatWhile } from '../heartbeat.ts';
import { type CodeOwners, ownersOf, parseCodeOwners } from './code-owners.ts';
import { forgeFailure } from './forge-failure.ts';

type ReviewPlanInput = {
  site: string;
  rule: string;
  prLink: string;
  /** The addresses listed in the rule. */
  reviewers: readonly string[];
};

export type PlannedReview = {
  /** The pull request's title, or a generic one if no forge gives it. */
  title: string;
  mails: string[];
  logins: string[];
  teams: string[];
  /** Someone in `mails` may review under a login that isn't in `logins`. */
  unknownLogins: boolean;
  /** What is missing from the plan, as a sentence for the operators; null if it is complete. */
  note: string | null;
};

/**
 * How long to retry a forge that is down, counted from the activity's first attempt. Then the plan uses what is known:
 * a mail to the rule's own reviewers matters more than a complete list.
 */
const RETRY_FOR_MS = 15 * 60_000;

/** A forge that rejects one request often rejects many; the first few explain the cause. */
const MAX_NOTES = 3;

type Ask = <T>(what: string, call: () => Promise<T>, otherwise: T) => Promise<T>;

/**
 * Finds the reviewers: the rule's list and the owners (CODEOWNERS) of the changed files, without the author. If the
 * forge is down, the activity fails and is retried for `retryForMs`; if the forge rejects a request, the plan goes on
 * without that part.
 */
export function createPlanReview(forge: ForgeReader | undefined, retryForMs = RETRY_FOR_MS) {
  return async function planReview(input: ReviewPlanInput): Promise<PlannedReview> {
    if (forge === undefined) return planOf(input, { ...withoutForge(input), note: null });
    const { scheduledTimestampMs } = Context.current().info;
    const notes = new Set<string>();
    const ask: Ask = async (what, call, otherwise) => {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        if (error.retryable && Date.now() - scheduledTimestampMs < retryForMs) throw forgeFailure(error);
        notes.add(`${what}: ${error.message}`);
        return otherwise;
      }
    };
    const fromForge = await heartbeatWhile(() => readForge(forge, input, ask));
    return planOf(input, {
      ...fromForge,
      note: notes.size === 0 ? null : `without the forge’s ${[...notes].slice(0, MAX_NOTES).join('; ')}`,
    });
  };
}

type FromForge = {
  title: string;
  author: { login: string; mail: string | null };
  owners: CodeOwners;
  loginOf: ReadonlyMap<string, string>;
  mailOf: ReadonlyMap<string, string>;
  note: string | null;
};

const NO_OWNERS: CodeOwners = { logins: [], teams: [], mails: [] };

const UNCOMPARABLE = { status: null, retryable: false } as const;

async function readForge(forge: ForgeReader, input: ReviewPlanInput, ask: Ask): Promise<Omit<FromForge, 'note'>> {
  const { prLink } = input;
  const pullRequest = await ask('pull request', () => forge.readPullRequest(prLink), null);
  if (pullRequest === null) return withoutForge(input);
  const owners = await ask(
    'CODEOWNERS',
    async () => {
      const text = await forge.readCodeOwners(prLink);
      if (text === null) return NO_OWNERS;
      const owners = await ownersOf(parseCodeOwners(text), await forge.listChangedFiles(prLink));
      if (owners === null) throw new ForgeError('too many patterns for so many changed files', UNCOMPARABLE);
      return owners;
    },
    NO_OWNERS,
  );
  const { title, author: login } = pullRequest;
  const mailOf = await lookUp(owners.logins, (each) => ask(`address of ${each}`, () => forge.findMail(each), null));
  const loginOf = await lookUp([...input.reviewers, ...owners.mails], (each) =>
    ask('logins by address', () => forge.findLogin(each), null),
  );
  const mail = login === '' ? null : await ask(`address of ${login}`, () => forge.findMail(login), null);
  return { title, author: { login, mail }, owners, loginOf, mailOf };
}

/** One at a time: forges limit requests, and reviewers are few. Keys are in lower case. */
async function lookUp(
  names: readonly string[],
  find: (name: string) => Promise<string | null>,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const name of unique(names)) {
    const answer = await find(name);
    if (answer !== null) found.set(name.toLowerCase(), answer);
  }
  return found;
}

function withoutForge({ rule, prLink }: ReviewPlanInput): Omit<FromForge, 'note'> {
  const number = /\/(\d+)\/?$/.exec(prLink)?.[1];
  return {
    title: number === undefined ? `Pull request by ${rule}` : `Pull request #${number} by ${rule}`,
    author: { login: '', mail: null },
    owners: NO_OWNERS,
    loginOf: new Map(),
    mailOf: new Map(),
  };
}

function planOf(
  { reviewers }: ReviewPlanInput,
  { title, author, owners, loginOf, mailOf, note }: FromForge,
): PlannedReview {
  const isAuthor = (login: string): boolean => author.login !== '' && same(login, author.login);
  const isAuthorsMail = (mail: string): boolean =>
    (author.mail !== null && same(mail, author.mail)) || isAuthor(loginOf.get(mail.toLowerCase()) ?? '');
  const ownersLogins = owners.logins.filter((login) => !isAuthor(login));
  const byLogin = ownersLogins.flatMap((login) => mailOf.get(login.toLowerCase()) ?? []);
  const mails = unique([...reviewers, ...owners.mails, ...byLogin].filter(isMail)).filter((m) => !isAuthorsMail(m));
  const byMail = mails.flatMap((mail) => loginOf.get(mail.toLowerCase()) ?? []);
  const logins = unique([...ownersLogins, ...byMail]).filter((login) => !isAuthor(login));
  const mailsOfLogins = byLogin.map((mail) => mail.toLowerCase());
  const unknownLogins = mails.some(
    (mail) => !loginOf.has(mail.toLowerCase()) && !mailsOfLogins.includes(mail.toLowerCase()),
  );
  return { title, mails, logins, teams: unique(owners.teams), unknownLogins, note };
}

/** Anyone can write CODEOWNERS and profiles, so only plain addresses get mail. */
function isMail(text: string): boolean {
  return z.email().safeParse(text).success;
}

function same(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Removes duplicates regardless of case; keeps the first spelling. */
function unique(names: readonly string[]): string[] {
  const seen = new Map(names.toReversed().map((name) => [name.toLowerCase(), name]));
  return names.filter((name, index) => seen.get(name.toLowerCase()) === name && names.indexOf(name) === index);
}
