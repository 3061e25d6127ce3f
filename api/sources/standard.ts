import { z } from 'zod';
import { createVerifier } from '../../contract/signing.ts';
import { commonSettings, oneOrMore, STANDARD_SECRET, secret } from '../../contract/webhook-settings.ts';
import { parseJsonDelivery } from '../webhooks/json-delivery.ts';
import { withFilteredFields } from '../webhooks/sample.ts';
import { acceptWithin, anyEqualInConstantTime, hmacOf, readTimestampMs, timeWindow } from '../webhooks/signature.ts';
import { defineSource, filters, rejected, SigningError } from '../webhooks/source.ts';

/** A rotation needs two signatures. Each one costs work before the sender is known. */
const MAX_SIGNATURES = 20;

/** The standard's libraries allow this on both sides. */
const CLOCK_DIFFERENCE_MS = 5 * 60_000;

/** A sender's public key: 32 bytes in base64. */
const PUBLIC_KEY = /^whpk_(?=[A-Za-z0-9+/]{43}=?$)/;

const secretOrPublicKey = secret.regex(
  new RegExp(`${PUBLIC_KEY.source}|${STANDARD_SECRET.source}`),
  'expected whsec_ and the key in base64, or whpk_ and the public key in base64',
);

/**
 * Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks), as Svix and others send them:
 * `{id}.{timestamp}.{body}` under HMAC-SHA256 (`v1`) or, if the secret is the sender's public key, ed25519 (`v1a`), base64.
 * The header may hold several signatures; any match passes. Svix begins the names of the headers with its own name.
 */
export const source = defineSource({
  settings: z.strictObject({ ...commonSettings, secret: oneOrMore(secretOrPublicKey), filters: filters.optional() }),
  // The standard suggests retries for 75 hours.
  retryPeriodMs: 72 * 3_600_000,

  verify({ header, body }, { settings, secrets, now }) {
    const prefix = header('webhook-signature') === undefined ? 'svix' : 'webhook';
    const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => header(`${prefix}-${name}`));
    if (!id || !timestamp || !signatures) return rejected('missing-header');
    const signedAtMs = readTimestampMs(timestamp, 's');
    if (signedAtMs === undefined) return rejected('malformed-header');
    const given = signatures.split(' ', MAX_SIGNATURES);
    const signed = [`${id}.${timestamp}.`, body];
    if (!secrets.map((each) => hasSigned(each, signed, given)).includes(true)) return rejected('bad-signature');
    const window = timeWindow(settings.window, { futureMs: CLOCK_DIFFERENCE_MS });
    return acceptWithin(window, signedAtMs, now, id);
  },

  parse: (delivery, settings) => parseJsonDelivery(delivery, settings.filters),

  sample({ uuid, title, slug, url, author, at }, settings) {
    const data = { id: uuid, title, slug, url, author };
    return withFilteredFields({ type: 'entry.published', timestamp: at.toISOString(), data }, settings.filters);
  },

  sign({ id, at, body, secret: key }) {
    if (PUBLIC_KEY.test(key))
      throw new SigningError('secret', 'a public key (whpk_) can not sign: only its sender can');
    const timestamp = String(Math.floor(at.getTime() / 1000));
    return {
      headers: {
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signatureOf(key, [`${id}.${timestamp}.`, body]),
      },
    };
  },
});

type Signed = readonly (string | Buffer)[];

/** Whether any of the given signatures is one by this secret, or by the owner of this public key. */
function hasSigned(key: string, signed: Signed, given: readonly string[]): boolean {
  if (!PUBLIC_KEY.test(key)) {
    const expected = [signatureOf(key, signed)];
    return given.map((each) => anyEqualInConstantTime(expected, each)).includes(true);
  }
  const verifier = createVerifier(key.replace(PUBLIC_KEY, ''));
  const bytes = Buffer.concat(signed.map((part) => Buffer.from(part)));
  return given.some((each) => each.startsWith('v1a,') && verifier.verifies(bytes, each.slice('v1a,'.length)));
}

function signatureOf(key: string, parts: Signed): string {
  const bytes = Buffer.from(key.replace(/^whsec_/, ''), 'base64');
  return `v1,${hmacOf('sha256', bytes, parts, 'base64')}`;
}
