import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { z } from 'zod';
import type { Browser, Shown } from '../platform/dashboard/browser.ts';

const PASSKEYS = '/ui/auth/passkey';
const options = z.object({ challenge: z.string() });

/** Flags of WebAuthn's authenticator data: the user is present and verified; a credential follows. */
const [PRESENT_AND_VERIFIED, WITH_CREDENTIAL] = [0x05, 0x40];

/** A passkey in software: ES256, without attestation (https://www.w3.org/TR/webauthn-3/). */
export type SecurityKey = {
  /** Adds it to the account of the browser's session. */
  register(browser: Browser): Promise<Shown>;
  /** Signs in with it, at another origin of the same host if one is given. */
  signIn(browser: Browser, at?: string): Promise<Shown>;
};

export function createSecurityKey(origin: string): SecurityKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credentialId = randomBytes(16);
  const id = credentialId.toString('base64url');
  const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
  const authenticatorData = (flags: number, credential = Buffer.alloc(0)) =>
    Buffer.concat([sha256(new URL(origin).hostname), Buffer.from([flags, 0, 0, 0, 0]), credential]);
  const clientData = (type: string, challenge: string, at = origin) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: at, crossOrigin: false }));

  /** The public key as a COSE map. */
  function coseKey(): Buffer {
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    const coordinate = (label: number, value: string) =>
      Buffer.concat([Buffer.from([label, 0x58, 32]), Buffer.from(value, 'base64url')]);
    return Buffer.concat([Buffer.from('a5010203262001', 'hex'), coordinate(0x21, x), coordinate(0x22, y)]);
  }

  /** `{fmt: 'none', attStmt: {}, authData}` in CBOR. */
  function attestation(data: Buffer): Buffer {
    const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
    const [fmt, none, statement, name] = ['fmt', 'none', 'attStmt', 'authData'].map(text);
    if (!fmt || !none || !statement || !name) throw new Error('unreachable');
    return Buffer.concat([
      ...[Buffer.from([0xa3]), fmt, none, statement, Buffer.from([0xa0]), name],
      ...[Buffer.from([0x58, data.length]), data],
    ]);
  }

  async function challengeOf(browser: Browser, path: string): Promise<string | Shown> {
    const shown = await browser.get(`${PASSKEYS}/${path}`);
    return shown.status === 200 ? options.parse(JSON.parse(shown.text)).challenge : shown;
  }

  const common = { id, rawId: id, type: 'public-key', clientExtensionResults: {} };

  return {
    async register(browser) {
      const challenge = await challengeOf(browser, 'generate-register-options');
      if (typeof challenge !== 'string') return challenge;
      const credential = Buffer.concat([
        Buffer.alloc(16),
        Buffer.from([0, credentialId.length]),
        credentialId,
        coseKey(),
      ]);
      const data = authenticatorData(PRESENT_AND_VERIFIED | WITH_CREDENTIAL, credential);
      const response = {
        clientDataJSON: clientData('webauthn.create', challenge).toString('base64url'),
        attestationObject: attestation(data).toString('base64url'),
        transports: [],
      };
      return await browser.postJson(`${PASSKEYS}/verify-registration`, { response: { ...common, response } });
    },
    async signIn(browser, at) {
      const challenge = await challengeOf(browser, 'generate-authenticate-options');
      if (typeof challenge !== 'string') return challenge;
      const [data, client] = [authenticatorData(PRESENT_AND_VERIFIED), clientData('webauthn.get', challenge, at)];
      const response = {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', Buffer.concat([data, sha256(client)]), privateKey).toString('base64url'),
      };
      return await browser.postJson(`${PASSKEYS}/verify-authentication`, { response: { ...common, response } });
    },
  };
}
