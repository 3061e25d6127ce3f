import { hash, randomBytes } from 'node:crypto';

/** Long enough to click, short enough for a terminal's log. */
const VALID_MS = 15 * 60 * 1000;

export type SignInLinks = {
  /** The secret of a link that signs in once, within 15 minutes. */
  create: () => string;
  /** Whether the secret is valid. A page may ask before it uses the link, because programs open links too. */
  isValid: (secret: string) => boolean;
  /** The same, and the link ends. */
  use: (secret: string) => boolean;
};

/** Links to sign in without a token or a password. They end with the process. */
export function createSignInLinks(now: () => Date = () => new Date()): SignInLinks {
  // By hash, so that the lookup's time reveals nothing of a secret.
  const expiresMs = new Map<string, number>();
  const isValid = (secret: string): boolean => (expiresMs.get(hash('sha256', secret)) ?? 0) > now().getTime();
  return {
    create() {
      for (const [key, endsMs] of expiresMs) if (endsMs <= now().getTime()) expiresMs.delete(key);
      const secret = randomBytes(32).toString('base64url');
      expiresMs.set(hash('sha256', secret), now().getTime() + VALID_MS);
      return secret;
    },
    isValid,
    use(secret) {
      const valid = isValid(secret);
      expiresMs.delete(hash('sha256', secret));
      return valid;
    },
  };
}

/** The sites page and the dashboard of one `galley up`, as the other one sees it. No session is for both. */
export type Counterpart = {
  /** A URL that signs in there once, then leads to a path there. `name` is the person's, if known. */
  open: (to: string, name?: string) => string;
  /** Links from there that sign in here. */
  links: SignInLinks;
};
