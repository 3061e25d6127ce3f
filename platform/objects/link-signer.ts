import { createHmac } from 'node:crypto';
import { equalInConstantTime } from '../../base/equal-in-constant-time.ts';
import { assertObjectKey, type Link, type LinkOptions, type LinkVerifier } from './object-store.ts';

/** The path of signed links, followed by the object's key. */
export const LINK_PATH_PREFIX = '/objects/';

const PARAMETERS = ['expires', 'name', 'signature'];

type LinkSigner = LinkVerifier & { sign(key: string, options: LinkOptions): Link };

/**
 * Signs and checks links to objects that the platform serves itself: HMAC-SHA256 over key, expiry (epoch milliseconds)
 * and file name. The link is relative to the platform's public URL.
 */
export function createLinkSigner({ signingKey, now }: { signingKey: Buffer; now: () => number }): LinkSigner {
  const signatureOf = (key: string, expires: string, fileName: string): string =>
    createHmac('sha256', signingKey).update(`galley-link-1\n${key}\n${expires}\n${fileName}`).digest('base64url');

  return {
    sign(key, { ttlMs, fileName = '' }) {
      const expiresAt = new Date(now() + ttlMs);
      const expires = String(expiresAt.getTime());
      const query = new URLSearchParams({ expires });
      if (fileName !== '') query.set('name', fileName);
      query.set('signature', signatureOf(key, expires, fileName));
      return { url: `${LINK_PATH_PREFIX}${key}?${query}`, expiresAt };
    },

    async verify(path, query) {
      if (!path.startsWith(LINK_PATH_PREFIX)) return null;
      const key = path.slice(LINK_PATH_PREFIX.length);
      const names = [...query.keys()];
      if (new Set(names).size !== names.length || names.some((name) => !PARAMETERS.includes(name))) return null;
      const expires = query.get('expires') ?? '';
      const fileName = query.get('name') ?? '';
      // Compared as text, because different base64 texts can decode to the same bytes.
      if (!equalInConstantTime(query.get('signature') ?? '', signatureOf(key, expires, fileName))) return null;
      // The signature is valid, so Galley wrote this number.
      if (!(now() < Number(expires))) return null;
      assertObjectKey(key);
      return { key, fileName: fileName === '' ? null : fileName };
    },
  };
}
