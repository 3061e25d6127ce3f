import { z } from 'zod';
import { commonSettings } from '../../contract/webhook-settings.ts';
import { parseJsonDelivery } from '../webhooks/json-delivery.ts';
import { plainSample, withFilteredFields } from '../webhooks/sample.ts';
import { acceptWithin, anyEqualInConstantTime, hmacOf, readTimestampMs, timeWindow } from '../webhooks/signature.ts';
import { defineSource, filters, headerName, rejected } from '../webhooks/source.ts';

/**
 * Any sender that signs its body, as configured. With a timestamp header, `{timestamp}.{body}` is signed and the time is
 * checked; without one, a copied delivery can be sent again.
 */
export const source = defineSource({
  settings: z.strictObject({
    ...commonSettings,
    filters: filters.optional(),
    header: headerName,
    algorithm: z.enum(['sha256', 'sha512']).default('sha256'),
    encoding: z.enum(['hex', 'base64']).default('hex'),
    prefix: z.string().default(''),
    timestampHeader: headerName.optional(),
    timestampUnit: z.enum(['s', 'ms']).default('s'),
    /** The header with the delivery's id; by default the id is the hash of the body. */
    idHeader: headerName.optional(),
  }),

  verify({ header, body }, { settings, secrets, now }) {
    const { algorithm, encoding, prefix, timestampHeader, timestampUnit, idHeader } = settings;
    const signature = header(settings.header);
    const timestamp = timestampHeader === undefined ? undefined : header(timestampHeader);
    const id = idHeader === undefined ? undefined : header(idHeader);
    if (!signature) return rejected('missing-header');
    if ((timestampHeader !== undefined && !timestamp) || (idHeader !== undefined && !id)) {
      return rejected('missing-header');
    }
    const signedAtMs = timestamp === undefined ? now.getTime() : readTimestampMs(timestamp, timestampUnit);
    if (signedAtMs === undefined || !signature.startsWith(prefix)) return rejected('malformed-header');
    const parts = timestamp === undefined ? [body] : [`${timestamp}.`, body];
    const expected = secrets.map((secret) => hmacOf(algorithm, secret, parts, encoding));
    const given = signature.slice(prefix.length);
    // Hexadecimal digits mean the same in both cases, and senders use both.
    if (!anyEqualInConstantTime(expected, encoding === 'hex' ? given.toLowerCase() : given)) {
      return rejected('bad-signature');
    }
    return acceptWithin(timeWindow(settings.window), signedAtMs, now, id ?? null);
  },

  parse: (delivery, settings) => parseJsonDelivery(delivery, settings.filters),

  sample: (event, settings) => withFilteredFields(plainSample(event), settings.filters),

  sign({ id, at, body, secret }, settings) {
    const { header, algorithm, encoding, prefix, timestampHeader, timestampUnit, idHeader } = settings;
    const timestamp = timestampUnit === 's' ? Math.floor(at.getTime() / 1000) : at.getTime();
    const parts = timestampHeader === undefined ? [body] : [`${timestamp}.`, body];
    return {
      headers: {
        ...(timestampHeader !== undefined && { [timestampHeader.toLowerCase()]: String(timestamp) }),
        ...(idHeader !== undefined && { [idHeader.toLowerCase()]: id }),
        [header.toLowerCase()]: `${prefix}${hmacOf(algorithm, secret, parts, encoding)}`,
      },
    };
  },
});
