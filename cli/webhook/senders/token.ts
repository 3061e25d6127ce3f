import type { WebhookSources } from '../../../contract/webhook-sources.ts';
import type { Sender } from '../sender.ts';
import { plainSample } from './matching.ts';
import { tokenHeader } from './token-header.ts';

/** Whatever can send a header and JSON. */
export function tokenSender(settings: NonNullable<WebhookSources['token']>): Sender {
  return {
    sample: (event) => plainSample(settings.filters, event),
    headers: ({ secret }) => tokenHeader(settings, secret),
  };
}
