import { configuredSources } from '../../../api/webhooks/configured-source.ts';
import type { Verification } from '../../../api/webhooks/source.ts';
import { configWith } from '../running-api.ts';
import type { SignedHeaders } from './vendor.ts';

export type Verify = (
  headers: SignedHeaders,
  body: string | Buffer,
  now?: Date,
) => Verification | Promise<Verification>;

/** Verifies a delivery to the path `/` as the receiver does, with the settings of a site. */
export function verifierOf(
  source: string,
  settings: { secret: string | readonly string[]; [key: string]: unknown },
): Verify {
  const { sites } = configWith({ docs: { webhooks: { [source]: settings } } });
  const found = configuredSources(sites.docs?.webhooks ?? {}).get(source);
  if (found === undefined) throw new Error(`There is no source ${source}`);
  return (headers, body, now = new Date()) => {
    const header = (name: string) => headers[name.toLowerCase()];
    return found.verify({ method: 'POST', path: '/', header, body: Buffer.from(body) }, now);
  };
}
