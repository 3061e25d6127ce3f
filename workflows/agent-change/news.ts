import { cutText } from '../../contract/cut-text.ts';
import { type PullRequestReading, type Review, reviewKey } from '../../contract/pull-request-event.ts';
import { hash64 } from '../deliveries/hash64.ts';
import type { ChangeMemory, PullRequestNews } from './change-memory.ts';
import { isOver } from './phase.ts';

/** What is learnt of a pull request, by signal or by asking: pure functions over the memory. */

const MAX_REVIEWS = 100;
const MAX_SEEN = 200;
const MAX_EARLY = 20;
const MAX_TEXT = 500;
/** Of logins and commits. */
const MAX_NAME = 200;
const MAX_AT = 50;

/** Takes in a signal. A resend, and news of another pull request, change nothing. */
export function takeNews(memory: ChangeMemory, news: PullRequestNews): void {
  if (isOver(memory.phase)) return;
  const { prLink } = memory;
  if (prLink === null) {
    // A forge may be faster than our question about the job.
    memory.earlyNews = [...memory.earlyNews, cut(news)].slice(-MAX_EARLY);
    return;
  }
  const hash = hash64(news.deliveryId);
  if (!isSamePage(news.url, prLink) || memory.seenNews.includes(hash)) return;
  memory.seenNews = [...memory.seenNews, hash].slice(-MAX_SEEN);
  if ('state' in news) noteState(memory, news);
  else noteReviews(memory, [news]);
}

/** Takes in what came before the pull request was known. */
export function takeEarlyNews(memory: ChangeMemory): void {
  const { earlyNews } = memory;
  memory.earlyNews = [];
  for (const news of earlyNews) takeNews(memory, news);
}

/** Takes in the forge's own answer. */
export function takeReading(memory: ChangeMemory, reading: PullRequestReading): void {
  if (isOver(memory.phase)) return;
  noteState(memory, reading);
  if (memory.pullRequest) memory.pullRequest.title = cutText(reading.title, MAX_TEXT);
  noteReviews(memory, reading.reviews);
}

/** Makes the pull request known to the memory, at its title; what is known already stays. News tell no title. */
export function notePullRequest(memory: ChangeMemory, title: string): void {
  memory.pullRequest ??= { title: '', state: 'open', mergeCommitSha: null };
  memory.pullRequest.title ||= cutText(title, MAX_TEXT);
}

type Standing = Pick<PullRequestReading, 'state' | 'mergeCommitSha'>;

function noteState(memory: ChangeMemory, { state, mergeCommitSha }: Standing): void {
  notePullRequest(memory, '');
  if (memory.pullRequest) {
    memory.pullRequest.state = state;
    if (mergeCommitSha !== null) memory.pullRequest.mergeCommitSha = mergeCommitSha.slice(0, MAX_NAME);
  }
  if (state === 'merged' || state === 'closed') memory.phase = state;
}

function noteReviews(memory: ChangeMemory, reviews: readonly Review[]): void {
  const known = new Map(memory.reviews.map((review) => [reviewKey(review), review]));
  for (const { reviewer, verdict, at, bot } of reviews) {
    const review = { reviewer: reviewer.slice(0, MAX_NAME), verdict, at: at.slice(0, MAX_AT), ...(bot && { bot }) };
    const before = known.get(reviewKey(review));
    if (before === undefined || before.at < review.at) known.set(reviewKey(review), review);
  }
  memory.reviews = newestOf([...known.values()]);
}

/** As many as are kept. Remarks go first: without its verdict a review would be reminded of again. */
function newestOf(reviews: readonly Review[]): Review[] {
  let surplus = reviews.length - MAX_REVIEWS;
  const kept = reviews.filter(({ verdict }) => verdict !== 'commented' || surplus-- <= 0);
  return kept.slice(-MAX_REVIEWS);
}

/** Addresses of one page may differ in what a browser adds: a slash at the end, a fragment, the host's capitals. */
export function isSamePage(one: string, other: string): boolean {
  return pageOf(one) === pageOf(other);
}

function pageOf(url: string): string {
  const bare = url.replace(/[?#].*$/s, '').replace(/\/+$/, '');
  return bare.replace(/^[a-z]+:\/\/[^/]*/i, (origin) => origin.toLowerCase());
}

/** What is kept has to stay small. */
function cut(news: PullRequestNews): PullRequestNews {
  const url = news.url.slice(0, 2_000);
  const deliveryId = news.deliveryId.slice(0, MAX_TEXT);
  const at = news.at.slice(0, MAX_AT);
  return 'state' in news
    ? { ...news, url, deliveryId, at, mergeCommitSha: news.mergeCommitSha?.slice(0, MAX_NAME) ?? null }
    : { ...news, url, deliveryId, at, reviewer: news.reviewer.slice(0, MAX_NAME) };
}
