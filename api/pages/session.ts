import { createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { equalInConstantTime } from '../../base/equal-in-constant-time.ts';

/** A session ends this long after its last request, */
const IDLE_MS = 8 * 60 * 60 * 1000;
/** and at the latest this long after its sign-in. */
const LONGEST_MS = 7 * 24 * 60 * 60 * 1000;
/** A used session gets a new cookie this often. */
const RENEW_AFTER_MS = 10 * 60 * 1000;

/** Who operators say they are: the actor of what they do. */
export const operatorName = z
  .string()
  .trim()
  .min(1)
  .max(60)
  .regex(/^[\p{L}\p{M}\p{N} .,'@+_-]+$/u);

const session = z.object({
  id: z.string(),
  name: operatorName,
  /** The id of the dashboard's owner who came by a link from there: the session ends with that role. */
  owner: z.string().optional(),
  signedInMs: z.number(),
  expiresMs: z.number(),
});
export type OperatorSession = z.infer<typeof session>;

export type Sessions = {
  start: (name: string, owner?: string) => OperatorSession;
  /** The cookie's value: the session and its signature. */
  seal: (session: OperatorSession) => string;
  /** Undefined unless the value was sealed by this token, and the session has neither expired nor been ended here. */
  open: (value: string) => OperatorSession | undefined;
  /** A session with a later end if it is time for one. */
  renew: (session: OperatorSession) => OperatorSession | undefined;
  /** Other processes accept the session until it expires: its browser loses the cookie. */
  end: (session: OperatorSession) => void;
  /** A secret of the session that its forms carry. */
  csrfOf: (session: OperatorSession) => string;
};

/** The sessions of one operator token. A new token ends all of them, because their key derives from it. */
export function createSessions(operatorToken: string, now: () => Date = () => new Date()): Sessions {
  const key = createHmac('sha256', operatorToken).update('galley: sessions of the sites page').digest();
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url');
  const ended = new Map<string, number>();

  return {
    start(name, owner) {
      const nowMs = now().getTime();
      return { id: randomBytes(16).toString('base64url'), name, owner, signedInMs: nowMs, expiresMs: nowMs + IDLE_MS };
    },

    seal(opened) {
      const text = Buffer.from(JSON.stringify(opened)).toString('base64url');
      return `${text}.${sign(`session ${text}`)}`;
    },

    open(value) {
      const [text = '', signature = ''] = value.split('.', 2);
      if (!equalInConstantTime(signature, sign(`session ${text}`))) return undefined;
      const opened = session.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
      if (!opened.success || opened.data.expiresMs <= now().getTime() || ended.has(opened.data.id)) return undefined;
      return opened.data;
    },

    renew(opened) {
      const nowMs = now().getTime();
      const expiresMs = Math.min(nowMs + IDLE_MS, opened.signedInMs + LONGEST_MS);
      return expiresMs - opened.expiresMs >= RENEW_AFTER_MS ? { ...opened, expiresMs } : undefined;
    },

    end({ id, signedInMs }) {
      const nowMs = now().getTime();
      for (const [each, untilMs] of ended) if (untilMs <= nowMs) ended.delete(each);
      // A renewed cookie may be in another window.
      ended.set(id, signedInMs + LONGEST_MS);
    },

    csrfOf: ({ id }) => sign(`csrf ${id}`),
  };
}
