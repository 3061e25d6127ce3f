import type { Request } from 'express';
import { sha256Hex } from '../../base/sha256.ts';
import { HttpError } from '../../web/http-error.ts';
import type { Transaction } from '../store/database.ts';
import { findStoredResponse, storeResponse } from '../store/idempotency-keys.ts';
import { lockUntilCommit } from '../store/locks.ts';

const KEPT_MS = 30 * 86_400_000;

/** Format of an `Idempotency-Key`: printable ASCII without spaces. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

export type Answer = { status: number; body: unknown };

/** The request's idempotency key and a hash of the request. Undefined without the header; throws 400. */
export function readIdempotencyKey(
  request: Request,
  parsedBody: unknown,
): { key: string; requestSha256: string } | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) {
    throw new HttpError(400, 'Idempotency-Key: expected 1 to 255 printable ASCII characters without spaces');
  }
  // Hashes the parsed body, so key order and white space don't matter.
  const text = JSON.stringify([request.method, request.path, parsedBody]);
  return { key, requestSha256: sha256Hex(text) };
}

/**
 * Returns the stored response if the key was used before; otherwise runs `decide` and stores its response in the same
 * transaction. Requests with one key are serialized, even if they differ: callers take their own locks before this one.
 * Throws 422 if the key was used for another request.
 */
export async function respondOnce(
  tx: Transaction,
  asked: { organizationId: string; idempotency: { key: string; requestSha256: string } | undefined; at: Date },
  decide: () => Promise<Answer>,
): Promise<Answer> {
  const { organizationId, idempotency, at } = asked;
  if (idempotency === undefined) return decide();
  const { key, requestSha256 } = idempotency;
  await lockUntilCommit(tx, `idempotency:${organizationId}:${key}`);
  const kept = await findStoredResponse(tx, { organizationId, key, at });
  if (kept !== undefined) {
    if (kept.requestSha256 === requestSha256) return { status: kept.status, body: JSON.parse(kept.answerJson) };
    throw new HttpError(422, 'This Idempotency-Key was used for another request');
  }
  const answer = await decide();
  await storeResponse(tx, {
    organizationId,
    key,
    requestSha256,
    status: answer.status,
    answerJson: JSON.stringify(answer.body),
    expiresAt: new Date(at.getTime() + KEPT_MS),
  });
  return answer;
}
