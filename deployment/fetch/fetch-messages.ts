import { errorCode, errorText } from '../../base/error-code.ts';
import { BundleInvalidError, BundleUnavailableError } from '../../bundle/errors.ts';
import { BundleRefusedError, VersionPinnedError } from '../errors.ts';
import type { Fetched, FetchRequest, UnpackRequest } from './fetch-bundle.ts';

export type FetchJob = { kind: 'fetch'; request: FetchRequest } | { kind: 'unpack'; request: UnpackRequest };

export type FetchWork = {
  job: FetchJob;
  result: { fetched: Fetched | undefined } | { error: SentError };
  /** A sign of life comes every second. */
  notice: { isAlive: true } | { receivedBytes: number; totalBytes: number | undefined };
  reply: never;
};

/** An error as it goes to another process, which keeps no class. */
export type SentError =
  | { kind: 'refused' | 'invalid'; message: string }
  | ({ kind: 'unavailable'; message: string } & Pick<BundleUnavailableError, 'pace' | 'status' | 'retryAfterMs'>)
  | { kind: 'pinned'; wanted: string; found: string; isUnnamed: boolean }
  | { kind: 'other'; name: string; message: string; code: string | undefined };

export function sendError(error: unknown): SentError {
  if (error instanceof BundleRefusedError) return { kind: 'refused', message: error.message };
  if (error instanceof BundleInvalidError) return { kind: 'invalid', message: error.message };
  if (error instanceof VersionPinnedError) {
    const { wanted, found, isUnnamed } = error;
    return { kind: 'pinned', wanted, found, isUnnamed };
  }
  if (!(error instanceof BundleUnavailableError)) {
    const name = error instanceof Error ? error.name : 'Error';
    return { kind: 'other', name, message: errorText(error), code: errorCode(error) };
  }
  const { message, pace, status, retryAfterMs } = error;
  return { kind: 'unavailable', message, pace, status, retryAfterMs };
}

export function receiveError(sent: SentError): Error {
  switch (sent.kind) {
    case 'refused':
      return new BundleRefusedError(sent.message);
    case 'invalid':
      return new BundleInvalidError(sent.message);
    case 'pinned':
      return new VersionPinnedError(sent.wanted, sent.found, sent.isUnnamed);
    case 'unavailable':
      return new BundleUnavailableError(sent.message, sent.pace, sent.status, sent.retryAfterMs);
    case 'other':
      return Object.assign(new Error(sent.message), { name: sent.name, code: sent.code });
  }
}
