import { cutText } from '../../contract/cut-text.ts';
import {
  type ChangeRequest,
  type PullRequestReading,
  type Review,
  type Reviewed,
  reviewKey,
} from '../../contract/pull-request-event.ts';
import { hash64 } from '../deliveries/hash64.ts';
import { isOver, type MutableState, type PullRequestEvent } from './state.ts';

/** Changes of the state by what is known of the pull request: webhook events, and what the forge returns. */

const MAX_REVIEWS = 100;
const MAX_SEEN = 200;
const MAX_EARLY = 20;
const MAX_TEXT = 500;
/** The most characters of a login or a commit's hash. */
const MAX_NAME = 200;
const MAX_AT = 50;

/** Ignores resends, older states and events of other pull requests. */
export function applyPullRequestEvent(state: MutableState, event: PullRequestEvent): void {
  if (isSettled(state)) return;
  const { prLink } = state;
  if (prLink === null) {
    // A webhook may arrive before the Admin API returns the pull request.
    state.earlyNews = [...state.earlyNews, cut(event)].slice(-MAX_EARLY);
    return;
  }
  const hash = hash64(event.deliveryId);
  if (!isSamePage(event.url, prLink) || state.seenNews.includes(hash)) return;
  state.seenNews = [...state.seenNews, hash].slice(-MAX_SEEN);
  if (!('state' in event)) addReview(state, event);
  else if (event.state === 'merged' || event.at >= (state.pullRequest?.eventAt ?? '')) applyStatus(state, event);
}

export function applyEarlyEvents(state: MutableState): void {
  const { earlyNews } = state;
  state.earlyNews = [];
  for (const event of earlyNews) applyPullRequestEvent(state, event);
}

function addReview(state: MutableState, event: Reviewed): void {
  addReviews(state, [event]);
  if (event.verdict === 'changes-requested') state.followUps = { ...state.followUps, unread: true };
}

/** Applies the pull request as the forge returns it. */
export function applyReading(state: MutableState, reading: PullRequestReading): void {
  if (isSettled(state)) return;
  applyStatus(state, reading);
  if (state.pullRequest) state.pullRequest.title = cutText(reading.title, MAX_TEXT);
  addReviews(state, reading.reviews);
  addChangeRequests(state, reading.changeRequests ?? []);
}

function addChangeRequests(state: MutableState, requests: readonly ChangeRequest[]): void {
  const { handled, pending, current } = state.followUps;
  const known = new Set([...handled, ...pending.map(({ id }) => id), current?.review.id]);
  const added = requests
    .filter(({ id }) => !known.has(id))
    .map(({ id, reviewer, at, bot }) => ({
      id,
      reviewer: reviewer.slice(0, 254),
      at: at.slice(0, MAX_AT),
      ...(bot && { bot }),
    }));
  if (added.length > 0) state.followUps = { ...state.followUps, pending: [...pending, ...added].slice(-MAX_REVIEWS) };
}

/** Sets the title unless one is known: events have none. */
export function setTitle(state: MutableState, title: string): void {
  state.pullRequest ??= { title: '', state: 'open', mergeCommitSha: null, eventAt: '' };
  state.pullRequest.title ||= cutText(title, MAX_TEXT);
}

/** @param status of an event, which has a time, or as the forge returns it */
function applyStatus(
  state: MutableState,
  status: Pick<PullRequestReading, 'state' | 'mergeCommitSha'> & { at?: string },
): void {
  setTitle(state, '');
  if (state.pullRequest) {
    state.pullRequest.state = status.state;
    state.pullRequest.eventAt = status.at?.slice(0, MAX_AT) ?? state.pullRequest.eventAt;
    if (status.mergeCommitSha !== null) {
      state.pullRequest.mergeCommitSha = status.mergeCommitSha.slice(0, MAX_NAME);
    }
  }
  if (status.state !== 'open') state.phase = status.state;
  else if (state.phase === 'closed') state.phase = 'in-review';
}

/** The pull request can't change any more, or the change doesn't follow it. A closed one may be reopened. */
function isSettled({ phase }: MutableState): boolean {
  return isOver(phase) && phase !== 'closed';
}

function addReviews(state: MutableState, reviews: readonly Review[]): void {
  const known = new Map(state.reviews.map((review) => [reviewKey(review), review]));
  for (const { reviewer, verdict, at, bot } of reviews) {
    const review = { reviewer: reviewer.slice(0, MAX_NAME), verdict, at: at.slice(0, MAX_AT), ...(bot && { bot }) };
    const before = known.get(reviewKey(review));
    if (before === undefined || before.at < review.at) known.set(reviewKey(review), review);
  }
  state.reviews = newestOf([...known.values()]);
}

/** Drops comments first: without its verdict, a review would be reminded of again. */
function newestOf(reviews: readonly Review[]): Review[] {
  let surplus = reviews.length - MAX_REVIEWS;
  const kept = reviews.filter(({ verdict }) => verdict !== 'commented' || surplus-- <= 0);
  return kept.slice(-MAX_REVIEWS);
}

/** URLs of one page may differ in a trailing slash, a query, a fragment, or the case of the host. */
export function isSamePage(one: string, other: string): boolean {
  return pageOf(one) === pageOf(other);
}

function pageOf(url: string): string {
  const bare = url.replace(/[?#].*$/s, '').replace(/(?<!\/)\/+$/, '');
  return bare.replace(/^[a-z]+:\/\/[^/]*/i, (origin) => origin.toLowerCase());
}

function cut(event: PullRequestEvent): PullRequestEvent {
  const url = event.url.slice(0, 2_000);
  const deliveryId = event.deliveryId.slice(0, MAX_TEXT);
  const at = event.at.slice(0, MAX_AT);
  return 'state' in event
    ? { ...event, url, deliveryId, at, mergeCommitSha: event.mergeCommitSha?.slice(0, MAX_NAME) ?? null }
    : { ...event, url, deliveryId, at, reviewer: event.reviewer.slice(0, MAX_NAME) };
}
