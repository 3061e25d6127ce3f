import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import type { Request } from 'express';
import { z } from 'zod';

export type GitHubApp = {
  id: number;
  /** The login under which the App acts. */
  login: string;
  /** PKCS #1, as GitHub issues it. */
  privateKey: string;
  /** The numbers of its installations, by `owner/name`. */
  installations: Map<string, number>;
  tokenLifeMs: number;
};

const jwtHeader = z.object({ alg: z.literal('RS256'), typ: z.literal('JWT') });
const jwtPayload = z.object({ iat: z.int(), exp: z.int(), iss: z.union([z.string(), z.int()]) });

/** Cached, because generating a key takes longer than most tests. */
let madeKey: string | undefined;

export function makeApp(): GitHubApp {
  madeKey ??= makePrivateKey();
  return { id: 4711, login: 'galley[bot]', privateKey: madeKey, installations: new Map(), tokenLifeMs: 3_600_000 };
}

/** PKCS #1, as GitHub issues it. */
export function makePrivateKey(): string {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  }).privateKey;
}

/** GitHub's checks: signed with the App's key, issued by the App, not in the future, valid for at most ten minutes. */
export function isSignedByApp(req: Request, app: GitHubApp): boolean {
  const [, head = '', body = '', signature = ''] =
    /^bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/i.exec(req.headers.authorization ?? '') ?? [];
  const key = createPublicKey(app.privateKey);
  if (!verify('RSA-SHA256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))) return false;
  const header = jwtHeader.safeParse(JSON.parse(Buffer.from(head, 'base64url').toString()));
  const payload = jwtPayload.safeParse(JSON.parse(Buffer.from(body, 'base64url').toString()));
  if (!header.success || !payload.success) return false;
  const { iat, exp, iss } = payload.data;
  const nowSeconds = Date.now() / 1000;
  return String(iss) === String(app.id) && iat <= nowSeconds && exp > nowSeconds && exp - iat <= 600;
}
