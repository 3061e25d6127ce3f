import type { Admission } from '../crawl/crawl-scope.ts';
import { notFoundUrl } from '../crawl/not-found-page.ts';
import { rankOf } from '../crawl/resource-rank.ts';
import type { FoundUrl, UnchangedUrl } from '../crawl-records.ts';
import { isFinal } from '../discover/keep-answers.ts';
import { originUrl } from '../document/url-identity.ts';
import type { FetchResult } from '../fetch/fetch-result.ts';
import { NO_VALIDATORS, type Validators } from '../fetch/validators.ts';
import type { ExportLimits } from '../limits.ts';
import type { Fetcher } from '../ports.ts';
import type { ExportSettings } from '../settings.ts';
import type { KnownAnswer, KnownAnswers } from './previous-export.ts';
import { isSame, stillValid, validatorsOf } from './reuse-response.ts';
import { workThrough } from './work-through.ts';

export type KnownWalk = {
  unchanged: UnchangedUrl[];
  /** What else was found on the way: left out, new to the site, changed, or not asked for. */
  rest: FoundUrl[];
  /** Answers to those of the rest that were asked for and answered for good, by address. */
  answers: ReadonlyMap<string, FetchResult>;
};

/** Answers other than "unchanged" that end a walk: the site is rather new than known, or its origin is in trouble. */
const MAX_CHANGED = 500;
/** Of the changed pages' bodies, which are kept until all is stored. */
const MAX_CHANGED_BYTES = 8 * 1024 * 1024;

/**
 * Goes from the first addresses of a site to all that can be reached over what its origin calls unchanged, as the last
 * export stored it. All of it happens in memory: it counts only once it is stored, the whole of it at once.
 */
export async function walkKnown(
  deps: { fetcher: Fetcher; known: KnownAnswers; admission: Admission; limits: ExportLimits },
  options: {
    settings: ExportSettings;
    starts: readonly FoundUrl[];
    signal: AbortSignal;
    maxMs: number;
    onAnswer: () => void;
  },
): Promise<KnownWalk> {
  const { fetcher, known, admission, limits } = deps;
  const { settings, signal } = options;
  const { site } = settings;
  const endAt = Date.now() + options.maxMs;
  const found = new Map<string, FoundUrl>();
  const waiting: FoundUrl[] = [];
  const unchanged = new Map<FoundUrl, Validators>();
  const answers = new Map<string, FetchResult>();
  let changedCount = 0;
  let changedBytes = 0;

  function note(url: FoundUrl): void {
    const before = found.get(url.url);
    if (before === undefined || (before.skip !== null && url.skip === null)) {
      found.set(url.url, url);
      if (url.skip === null) waiting.push(url);
    } else {
      before.rank = Math.max(before.rank, url.rank);
    }
  }

  function goesOn(): boolean {
    const changedLittle = changedCount < MAX_CHANGED && changedBytes < MAX_CHANGED_BYTES;
    return !signal.aborted && Date.now() < endAt && changedLittle;
  }

  async function ask(url: FoundUrl): Promise<void> {
    if (!mayBeKnown(url, settings)) return;
    const stored = known.atHand(url.url) ?? (await known.of(url.url));
    if (stored === undefined || stored.file.byteLength > limits.maxBufferedBytes) return;
    const target = new URL(originUrl(url.url, site));
    const answer = await fetcher.get(target, { signal, unlessMatching: validatorsOf(stored) });
    options.onAnswer();
    const validators = stillSame(stored, answer, url.url, settings);
    if (validators === undefined) {
      changedCount += 1;
      if (isFinal(answer)) answers.set(url.url, answer);
      if (answer.kind === 'response') changedBytes += answer.body.length;
      return;
    }
    unchanged.set(url, validators);
    for (const resource of stored.newResources(url)) {
      const next = admission.admit(resource, url);
      if (next !== undefined) note(next);
    }
  }

  for (const url of options.starts) note(url);
  await workThrough(waiting, { atOnce: limits.maxConcurrency, goesOn }, ask);
  signal.throwIfAborted();
  const all = [...found.values()];
  return {
    unchanged: all.flatMap((url) => {
      const validators = unchanged.get(url);
      return validators === undefined ? [] : [unchangedUrl(url, validators)];
    }),
    rest: all.filter((url) => !unchanged.has(url)),
    answers,
  };
}

function unchangedUrl({ url, rank, depth, foundOn }: FoundUrl, { etag, lastModified }: Validators): UnchangedUrl {
  return { url, rank, depth, foundOn, etag, lastModified };
}

/** A guess may be right today and wrong tomorrow, and the not-found page may come from any address. */
function mayBeKnown({ url, rank }: FoundUrl, { site }: ExportSettings): boolean {
  return rank > rankOf('probe') && url !== notFoundUrl(site);
}

/** What an unchanged file's validators are from here on; undefined: it has changed. */
function stillSame(
  stored: KnownAnswer,
  answer: FetchResult,
  url: string,
  { site }: ExportSettings,
): Validators | undefined {
  if (answer.kind === 'unchanged') return stillValid(stored, answer.validators);
  if (answer.kind !== 'response' || !isSame(stored, answer, url, site)) return undefined;
  return answer.validators ?? NO_VALIDATORS;
}
