import { createHmac, randomBytes } from 'node:crypto';
import { equalInConstantTime } from '../../base/equal-in-constant-time.ts';
import { HttpError } from '../../web/http-error.ts';
import { keepReviewKey, type PullRequestRow } from '../store/pull-requests.ts';
import { type ForgeContext, pageOf } from './forge-context.ts';

/**
 * A reviewer's access to one pull request: `review_{expiry in base 36 seconds}.{reviewer in base64url}.{signature}`.
 * The signature is an HMAC under the pull request's own key, which is deleted when the pull request ends. A secret:
 * never logged, never stored.
 */
const TOKEN = /^review_([0-9a-z]{1,10})\.([A-Za-z0-9_-]{1,400})\.([A-Za-z0-9_-]{43})$/;
const PREFIX = 'review_';

const DAY_SECONDS = 24 * 3_600;
const LIFETIME_DAYS = 30;

/**
 * The link with which one reviewer, identified by mail address, can comment, approve, merge and close one pull request.
 * Within a day it stays the same, so that a retried mail has the same bytes. Throws an `HttpError` 409 if the pull
 * request has ended.
 */
export async function createReviewLink(
  context: Pick<ForgeContext, 'db' | 'publicUrl'>,
  row: PullRequestRow,
  { reviewer, now }: { reviewer: string; now: Date },
): Promise<{ url: string; expiresAt: Date }> {
  const key = await keepReviewKey(context.db, row.id, randomBytes(32).toString('base64url'));
  if (key === undefined) throw new HttpError(409, 'The pull request has ended and can no longer be reviewed');
  const expiry = (Math.floor(now.getTime() / 1000 / DAY_SECONDS) + 1 + LIFETIME_DAYS) * DAY_SECONDS;
  const parts = [expiry.toString(36), Buffer.from(reviewer, 'utf8').toString('base64url')];
  const token = `${PREFIX}${[...parts, signatureOf(row.id, parts, key)].join('.')}`;
  return { url: `${pageOf(context, row)}/review?key=${token}`, expiresAt: new Date(expiry * 1000) };
}

/** Whether a token has the form of a reviewer's, valid or not. */
export function isReviewToken(token: string): boolean {
  return token.startsWith(PREFIX);
}

/**
 * The reviewer of a token and its expiry. Throws an `HttpError`: 410 (the pull request has ended, or the token has
 * expired), 403 (it is invalid, or for another pull request).
 */
export function readReviewToken(
  { id, state, reviewKey }: Pick<PullRequestRow, 'id' | 'state' | 'reviewKey'>,
  token: string,
  now: Date,
): { reviewer: string; expiresAt: Date } {
  if (state !== 'open') {
    throw new HttpError(410, `The pull request is ${state}, and the links to review it have ended with it`);
  }
  const [, expiry = '', name = '', signature = ''] = TOKEN.exec(token) ?? [];
  const expected = signatureOf(id, [expiry, name], reviewKey ?? randomBytes(32).toString('base64url'));
  if (!equalInConstantTime(signature, expected)) {
    throw new HttpError(403, 'This link is not valid for this pull request: open the one in your newest mail');
  }
  const expiresAt = new Date(Number.parseInt(expiry, 36) * 1000);
  if (expiresAt <= now) throw new HttpError(410, 'This link has expired: ask an operator to review in your place');
  return { reviewer: Buffer.from(name, 'base64url').toString('utf8'), expiresAt };
}

function signatureOf(id: string, parts: readonly string[], key: string): string {
  return createHmac('sha256', key)
    .update(['review', id, ...parts].join('\n'))
    .digest('base64url');
}
