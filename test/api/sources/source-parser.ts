import { configuredSources, type SourcedDelivery } from '../../../api/webhooks/configured-source.ts';
import { publishEvent } from '../../../contract/publish-event.ts';
import { HttpError } from '../../../web/http-error.ts';
import fc from '../../helpers/fast-check.ts';
import { configWith } from '../running-api.ts';
import { RECEIVED_AT } from './vendor.ts';
import { vendorOf } from './vendors.ts';

export type Parse = (body: unknown, headers?: Record<string, string>) => SourcedDelivery;

/** Parses a verified delivery as the receiver does, with the settings of a site. */
export function parserOf(source: string, settings: object = {}): Parse {
  const { sites } = configWith({
    docs: { webhooks: { [source]: { secret: vendorOf(source).secrets[0], ...settings } } },
  });
  const found = configuredSources(sites.docs?.webhooks ?? {}).get(source);
  if (found === undefined) throw new Error(`There is no source ${source}`);
  return (body, headers = {}) => {
    const header = (name: string) => headers[name];
    return found.parse({ body, header, id: 'delivery-1', receivedAt: new Date(RECEIVED_AT) });
  };
}

/** Expects any JSON, with any values at the given keys, to become a valid small event, a filter reason or a 400. */
export function expectToParseAnything(
  parse: Parse,
  keys: readonly string[],
  headers: Record<string, string>[] = [{}],
): void {
  const anything = fc.jsonValue({ maxDepth: 4 });
  const key = fc.constantFrom(...keys, '__proto__', 'constructor', '0');
  const text = fc.oneof(
    fc.string({ maxLength: 2_000 }),
    fc.constantFrom('draft', 'publish', 'https://a.b/c', 'x.delete'),
  );
  const { body } = fc.letrec((tie) => ({
    body: fc.oneof(
      { maxDepth: 4 },
      anything,
      text,
      fc.dictionary(key, tie('body')),
      fc.array(tie('body'), { maxLength: 3 }),
    ),
  }));
  fc.assert(
    fc.property(body, fc.constantFrom(...headers), (value, sent) => {
      const parsed = unlessRejected(() => parse(value, sent));
      if (parsed?.kind === 'publish') {
        expect(Buffer.byteLength(JSON.stringify(publishEvent.parse(parsed.event)))).toBeLessThan(16_000);
      } else if (parsed?.kind === 'filtered') {
        expect(parsed.why).not.toBe('');
      }
    }),
  );
}

function unlessRejected(parse: () => SourcedDelivery): SourcedDelivery | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof HttpError && error.status === 400) return undefined;
    throw error;
  }
}
