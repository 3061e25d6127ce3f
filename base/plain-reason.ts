import { dirname } from 'node:path';
import { errorText } from './error-code.ts';

/** What the codes of the system and of undici mean. */
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
  ENXIO: 'it is no file',
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
  UND_ERR_SOCKET: 'the connection was closed',
};

/** Such as `connect ECONNREFUSED 127.0.0.1:7233`, perhaps without its address (see `without-addresses.ts`). */
const NETWORK =
  /\b(?:connect|listen|getaddrinfo|read|write) (E[A-Z_]+)(?:: [a-z]+(?: [a-z]+)*)?(?: (?:\(an address\)(?::\d+)?|([^\s,;()]*[^\s,;().])))?/g;
/** Such as `EACCES: permission denied, open '/srv/.a.tmp'`, and a code alone. */
const SYSTEM = /\b(E[A-Z_]{3,}|UND_ERR_[A-Z_]+)\b(?:: [a-z][a-z -]*)?(?:, [a-z]+(?: '([^']*)')?(?: -> '([^']*)')?)?/g;
/** Such as `tonic::transport::Error(Transport, …)`, unlike an IPv6 address. */
const RUST = /\b[a-z]\w*(?:::\w+)*::[A-Z]\w*(?:\(.*\))?/gs;

/** What a code of the system means; undefined if that isn't known. */
export function meaningOf(code: string): string | undefined {
  return MEANINGS[code];
}

/** Why something failed, in words for its user: the thing and its place, not the call that failed. */
export function plainReason(error: unknown): string {
  return plainText(errorText(error));
}

/** A text that may hold an error of the system or of a library. */
export function plainText(text: string): string {
  return text
    .replace(NETWORK, (all, code: string, address?: string) => {
      const meaning = MEANINGS[code];
      if (meaning === undefined) return all;
      return address === undefined ? meaning : `${address}: ${meaning}`;
    })
    .replace(SYSTEM, (all, code: string, path?: string, target?: string) => {
      const meaning = MEANINGS[code];
      const place = target ?? path;
      if (meaning === undefined) return all;
      return place === undefined ? meaning : `${placeOf(place)}: ${meaning}`;
    })
    .replace(RUST, 'it can not be reached');
}

/** Durable writes go to a file or folder beside the real one, of which a person knows nothing. */
function placeOf(path: string): string {
  const unfinished = /^(.*\/)?\.?([^/]+)\.\d+\.part(?:$|\/)/.exec(path);
  if (unfinished !== null) return `${unfinished[1] ?? ''}${unfinished[2]}`;
  return path.endsWith('.tmp') ? `the folder ${dirname(path)}` : path;
}
