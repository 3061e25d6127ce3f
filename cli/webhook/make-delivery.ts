import { randomInt, randomUUID } from 'node:crypto';
import {
  type SampleEvent,
  type SignedRequest,
  SigningError,
  type UnsignedDelivery,
} from '../../api/webhooks/source.ts';
import { UsageError } from '../command-error.ts';
import type { ConfiguredWebhook } from './configured-webhook.ts';
import type { GivenBody } from './read-body.ts';

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

/** Exports, agents and reviewers see these texts, so they say that it is a test. */
const TITLE = 'A test from galley webhook send';
const SLUG = 'a-test-from-galley-webhook-send';

/** `randomInt` allows a range of less than 2^48. */
const [LOWEST_NUMBER, HIGHEST_NUMBER] = [100_000_000_000_000, 281_000_000_000_000];

/** An event that differs from every other one. */
function sampleEvent(domain: string, at: Date): SampleEvent {
  return {
    title: TITLE,
    slug: SLUG,
    url: `https://${domain}/${SLUG}`,
    author: 'galley webhook send',
    at,
    uuid: randomUUID(),
    number: randomInt(LOWEST_NUMBER, HIGHEST_NUMBER),
  };
}

/** The prefix shows in lists of deliveries that it is a test. */
function testDeliveryId(): string {
  return `galley-test-${randomUUID()}`;
}
