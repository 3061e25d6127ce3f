import type { WebhookSources } from '../../../contract/webhook-sources.ts';
import { UsageError } from '../../command-error.ts';

/**
 * `Authorization: Bearer …`, or the bare token in the header that the site's configuration names.
 * @throws UsageError for a token that no header can carry: nobody could ever send it.
 */
export function tokenHeader(
  { header }: NonNullable<WebhookSources['token']>,
  secret: string,
): Readonly<Record<string, string>> {
  if (!/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(secret))
    throw new UsageError('the secret in galley.yaml: expected letters, digits and signs that a header can carry');
  return header === undefined ? { authorization: `Bearer ${secret}` } : { [header.toLowerCase()]: secret };
}
