import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { sha256Hex } from '../../base/sha256.ts';

export const API_KEY_PREFIX = 'galley_';

/** Random characters of a key (base64url of 32 bytes), and of its checksum. */
const SECRET_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;

/** This much of a key is kept and shown, so that people can identify it. */
const SHOWN_CHARACTERS = API_KEY_PREFIX.length + 6;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A new key. Its last six characters are a checksum, so that a secret scanner recognizes a key without asking us. */
export function makeApiKey(): string {
  const secret = randomBytes(32).toString('base64url');
  return `${API_KEY_PREFIX}${secret}${checksumOf(secret)}`;
}

/** The CRC-32 of the random part, in base 62 with leading zeros. */
function checksumOf(secret: string): string {
  let rest = crc32(secret);
  let text = '';
  for (let index = 0; index < CHECKSUM_CHARACTERS; index += 1) {
    text = (BASE62[rest % 62] ?? '') + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** Whether a text can be a key: its form and checksum are right. */
export function isApiKeyText(text: string): boolean {
  if (!text.startsWith(API_KEY_PREFIX)) return false;
  const rest = text.slice(API_KEY_PREFIX.length);
  if (!/^[\w-]+$/.test(rest)) return false;
  const secret = rest.slice(0, SECRET_CHARACTERS);
  return (
    rest.length === SECRET_CHARACTERS + CHECKSUM_CHARACTERS && rest.slice(SECRET_CHARACTERS) === checksumOf(secret)
  );
}

/** How a key is found again: a key has 256 random bits, so a plain hash gives nothing away. */
export function hashApiKey(key: string): string {
  return sha256Hex(key);
}

/** The part of a key that is kept and shown. */
export function shownPart(key: string): string {
  return key.slice(0, SHOWN_CHARACTERS);
}
