import { dirname } from 'node:path';
import { errorCode, errorText } from '../base/error-code.ts';

/** What the system's error codes mean. */
const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EROFS: 'it is read-only',
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of the path is no folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists already',
  ENOTEMPTY: 'the folder is not empty',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EMFILE: 'too many files are open',
  ELOOP: 'it has too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
  EADDRINUSE: 'the port is in use',
  EADDRNOTAVAIL: 'this machine has no such address',
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'the host can not be reached',
  ENETUNREACH: 'the network can not be reached',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name can not be looked up now',
  ETIMEDOUT: 'there was no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'there was no answer in time',
};

const CODE = /\b(?:E(?:AI_)?[A-Z]{3,}|UND_ERR_[A-Z_]+)\b/;
/** Durable writes go to a file beside the real one. */
const TEMPORARY = /[.\w-]*\.tmp\b/;

/** Why something failed, in words for its user: the thing and its place, not the call that failed. */
export function plainReason(error: unknown): string {
  const code = errorCode(error) ?? '';
  const meaning = MEANINGS[code];
  const path = property(error, 'path') ?? property(error, 'dest');
  if (meaning !== undefined && path !== undefined) return `${placeOf(path)}: ${meaning}`;
  if (meaning !== undefined) return meaning;
  return plainText(errorText(error));
}

/** A text that may hold an error of the system, such as `EACCES: permission denied, open '/a/b.tmp'`. */
export function plainText(text: string): string {
  const match = CODE.exec(text);
  const meaning = MEANINGS[match?.[0] ?? ''];
  if (match === null || meaning === undefined) return text;
  const before = text.slice(0, match.index);
  const [, path] = /'([^']*)'/.exec(text.slice(match.index)) ?? [];
  return `${before}${path === undefined ? '' : `${placeOf(path)}: `}${meaning}`;
}

function placeOf(path: string): string {
  return TEMPORARY.test(path) ? `the folder ${dirname(path)}` : path;
}

function property(error: unknown, name: string): string | undefined {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}
