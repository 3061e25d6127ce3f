import { z } from 'zod';
import { commonSettings } from '../../contract/webhook-settings.ts';
import { firstMissed } from './json-delivery.ts';
import { withFilteredFields } from './sample.ts';
import { anyEqualInConstantTime } from './signature.ts';
import { filters, headerName, rejected, type SignedRequest, SigningError, type WebhookSource } from './source.ts';

const tokenSettings = z.strictObject({
  ...commonSettings,
  filters: filters.optional(),
  /** The header that carries the token; by default `Authorization: Bearer <secret>`. */
  header: headerName.optional(),
});
type TokenSettings = z.infer<typeof tokenSettings>;

type Parts = Pick<WebhookSource<TokenSettings>, 'parse' | 'sample'> & {
  /** Headers that the system sends beside the token. */
  eventHeaders?: (json: unknown) => Readonly<Record<string, string>>;
};

/**
 * A source for a system that signs nothing: the configured token is in `Authorization: Bearer …`, or alone in the header
 * that the site's settings name. The site's `filters` apply to everything that `parse` publishes.
 */
export function tokenSource({ parse, sample, eventHeaders }: Parts): WebhookSource<TokenSettings> {
  return {
    settings: tokenSettings,
    verify({ header }, { settings: { header: name }, secrets }) {
      const value = header(name ?? 'authorization');
      if (!value) return rejected('missing-header');
      const token = name === undefined ? /^Bearer +(\S.*)$/i.exec(value)?.[1]?.trimEnd() : value;
      if (token === undefined) return rejected('malformed-header');
      return anyEqualInConstantTime(secrets, token) ? { ok: true, vendorId: null } : rejected('bad-signature');
    },
    parse(delivery, settings) {
      const parsed = parse(delivery, settings);
      if (parsed.kind !== 'publish') return parsed;
      const missed = firstMissed(delivery.body, settings.filters ?? {});
      return missed === undefined ? parsed : { kind: 'filtered', topic: parsed.event.topic, why: `filters.${missed}` };
    },
    sample: (event, settings) => withFilteredFields(sample(event, settings), settings.filters),
    sign: ({ json, secret }, settings) => ({
      headers: { ...tokenHeader(settings, secret), ...eventHeaders?.(json) },
    }),
  };
}

/** @throws SigningError for a token that no header can carry. */
function tokenHeader({ header }: TokenSettings, secret: string): SignedRequest['headers'] {
  if (!/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(secret)) {
    throw new SigningError('secret', 'expected letters, digits and signs that a header can carry');
  }
  return header === undefined ? { authorization: `Bearer ${secret}` } : { [header.toLowerCase()]: secret };
}
