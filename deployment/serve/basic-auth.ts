import { equalInConstantTime } from '../../base/equal-in-constant-time.ts';

export type BasicAuth = {
  /** The value of WWW-Authenticate. */
  challenge: string;
  /** @param authorization the request's header */
  allows(authorization: string | undefined): boolean;
};

/** HTTP's basic authentication (RFC 7617) with one user. */
export function createBasicAuth({ user, password }: { user: string; password: string }): BasicAuth {
  const expected = `${user}:${password}`;
  return {
    challenge: 'Basic realm="Documentation", charset="UTF-8"',
    allows(authorization) {
      const encoded = /^basic +(\S+) *$/i.exec(authorization ?? '')?.[1];
      if (encoded === undefined) return false;
      return equalInConstantTime(Buffer.from(encoded, 'base64').toString(), expected);
    },
  };
}
