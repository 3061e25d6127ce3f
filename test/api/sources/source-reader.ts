import { configuredSources } from '../../../api/sources/configured-source.ts';
import type { Reading } from '../../../api/sources/source.ts';
import { HttpError } from '../../../contract/http-error.ts';
import { publishEvent } from '../../../contract/publish-event.ts';
import fc from '../../helpers/fast-check.ts';
import { configWith } from '../running-api.ts';
import { RECEIVED_AT } from './cases/source-cases.ts';

export type Read = (body: unknown, headers?: Record<string, string>) => Reading;

/** Reads a verified delivery as the receiver does: by the source as it is configured. */
export function readerOf(source: string, settings: object = {}): Read {
  const { sites } = configWith({ docs: { webhooks: { [source]: { secret: 'x', ...settings } } } });
  const found = configuredSources(sites.docs?.webhooks ?? {}).get(source);
  if (found === undefined) throw new Error(`no source ${source}`);
  return (body, headers = {}) => {
    const request = { method: 'POST', path: '/', header: (name: string) => headers[name], body: Buffer.alloc(0) };
    return found.source.read(request, body, { id: 'delivery-1', receivedAt: new Date(RECEIVED_AT) });
  };
}

/** Reads any JSON, with anything at the given keys, to an event that is valid and small, to a reason, or to a 400. */
export function expectToReadAnything(
  read: Read,
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
      const reading = unlessRejected(() => read(value, sent));
      if (reading?.kind === 'publish') {
        expect(Buffer.byteLength(JSON.stringify(publishEvent.parse(reading.event)))).toBeLessThan(16_000);
      } else if (reading?.kind === 'filtered') {
        expect(reading.why).not.toBe('');
      }
    }),
  );
}

function unlessRejected(read: () => Reading): Reading | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof HttpError && error.status === 400) return undefined;
    throw error;
  }
}
