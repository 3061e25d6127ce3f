import { z } from 'zod';
import { commonSettings, oneOrMore, standardSecret } from '../../contract/webhook-settings.ts';
import { parseJsonDelivery } from '../webhooks/json-delivery.ts';
import { withFilteredFields } from '../webhooks/sample.ts';
import { filters } from '../webhooks/settings.ts';
import { acceptWithin, anyEqualInConstantTime, hmacOf, readTimestampMs, timeWindow } from '../webhooks/signature.ts';
import { defineSource, rejected } from '../webhooks/source.ts';

/** A rotation needs two signatures. Each one costs work before the sender is known. */
const MAX_SIGNATURES = 20;

/**
 * Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks), as Svix and others send them:
 * `{id}.{timestamp}.{body}` under HMAC-SHA256, base64. The header may hold several signatures; any match passes. Svix
 * begins the names of the headers with its own name.
 */
export const source = defineSource({
  settings: z.strictObject({ ...commonSettings, secret: oneOrMore(standardSecret), filters: filters.optional() }),

  verify({ header, body }, { settings, secrets, now }) {
    const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map(
      (name) => header(`webhook-${name}`) ?? header(`svix-${name}`),
    );
    if (!id || !timestamp || !signatures) return rejected('missing-header');
    const signedAtMs = readTimestampMs(timestamp, 's');
    if (signedAtMs === undefined) return rejected('malformed-header');
    const expected = secrets.map((each) => signatureOf(each, [`${id}.${timestamp}.`, body]));
    if (!signatures.split(' ', MAX_SIGNATURES).some((given) => anyEqualInConstantTime(expected, given))) {
      return rejected('bad-signature');
    }
    return acceptWithin(timeWindow(settings.window), signedAtMs, now, id);
  },

  parse: (delivery, settings) => parseJsonDelivery(delivery, settings.filters),

  sample({ uuid, title, slug, url, author, at }, settings) {
    const data = { id: uuid, title, slug, url, author };
    return withFilteredFields({ type: 'entry.published', timestamp: at.toISOString(), data }, settings.filters);
  },

  sign({ id, at, body, secret: key }) {
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

function signatureOf(key: string, parts: readonly (string | Buffer)[]): string {
  const bytes = Buffer.from(key.replace(/^whsec_/, ''), 'base64');
  return `v1,${hmacOf('sha256', bytes, parts, 'base64')}`;
}
