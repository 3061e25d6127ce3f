import { type SignedRequest, SigningError, type UnsignedDelivery } from '../../api/webhooks/source.ts';
import { UsageError } from '../command-error.ts';
import type { ConfiguredWebhook } from './configured-webhook.ts';
import type { GivenBody } from './read-body.ts';
import { sampleEvent, testDeliveryId } from './sample-event.ts';

export interface SignedDelivery {
  body: string;
  headers: Readonly<Record<string, string>>;
  /** A description for people. */
  what: string;
}

type Webhook = Pick<ConfiguredWebhook, 'source' | 'domain' | 'secret' | 'settings' | 'sender'>;

/**
 * Signs the given body, or a sample of the source, as the content system would at this moment.
 * @throws UsageError if the content system can't send this body or this secret.
 */
export function makeDelivery(
  webhook: Webhook,
  { path, at, given }: { path: string; at: Date; given?: GivenBody | undefined },
): SignedDelivery {
  const { source, domain, secret, settings, sender } = webhook;
  const event = sampleEvent(domain, at);
  const json = given === undefined ? sender.sample(event, settings) : given.json;
  const body = given === undefined ? JSON.stringify(json) : given.text;
  const signed = sign(webhook, { body, json, secret, path, at, id: testDeliveryId() });
  return {
    body: signed.body ?? body,
    headers: { 'content-type': 'application/json', ...signed.headers },
    what: given === undefined ? `${source} sample "${event.title}"` : `${source} delivery with your body`,
  };
}

function sign({ sender, settings }: Webhook, delivery: UnsignedDelivery): SignedRequest {
  try {
    return sender.sign(delivery, settings);
  } catch (error) {
    if (!(error instanceof SigningError)) throw error;
    const place = error.part === 'body' ? '--body' : 'the secret in galley.yaml';
    throw new UsageError(`${place}: ${error.message}`);
  }
}
