import { hash, randomBytes } from 'node:crypto';

/** Long enough to click, short enough for a terminal's log. */
const VALID_MS = 15 * 60 * 1000;

/** Long enough for a redirect and a click. */
export const REDIRECT_MS = 60_000;

/** Who a link signs in: an owner of the dashboard, by id; without an id, anyone who has the operator token. */
export type LinkPerson = { id?: string | undefined; name?: string | undefined };

export type SignInLinks = {
  /** The secret of a link that signs in once, by default within 15 minutes. */
  create: (person?: LinkPerson, validMs?: number) => string;
  /** Undefined: it isn't valid. A page may ask before it uses the link, because programs open links too. */
  find: (secret: string) => LinkPerson | undefined;
  /** The same, and the link ends. */
  use: (secret: string) => LinkPerson | undefined;
};

/** Links to sign in without a token or a password. They end with the process. */
export function createSignInLinks(now: () => Date = () => new Date()): SignInLinks {
  // By hash, so that the lookup's time reveals nothing of a secret.
  const links = new Map<string, { person: LinkPerson; endsMs: number }>();
  const forgetEnded = (): void => {
    for (const [key, { endsMs }] of links) if (endsMs <= now().getTime()) links.delete(key);
  };
  const find = (secret: string): LinkPerson | undefined => {
    forgetEnded();
    return links.get(hash('sha256', secret))?.person;
  };
  return {
    create(person = {}, validMs = VALID_MS) {
      forgetEnded();
      const secret = randomBytes(32).toString('base64url');
      links.set(hash('sha256', secret), { person, endsMs: now().getTime() + validMs });
      return secret;
    },
    find,
    use(secret) {
      const person = find(secret);
      links.delete(hash('sha256', secret));
      return person;
    },
  };
}

/** The sites page or the dashboard of one `galley up`, as the other one sees it. No session is for both. */
export type Counterpart = {
  /** A URL that signs this person in there once, then leads to a path there. */
  open: (to: string, person: LinkPerson) => string;
};

/** The dashboard, as the sites page sees it. */
export type OwnersDashboard = Counterpart & {
  /** Whether someone is still an owner of the organization of this `galley up`. */
  isOwner: (id: string) => Promise<boolean>;
};
