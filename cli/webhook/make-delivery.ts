import type { ConfiguredWebhook } from './configured-webhook.ts';
import type { GivenBody } from './read-body.ts';
import { testDeliveryId, testEvent } from './test-event.ts';

export interface SignedDelivery {
  body: string;
  headers: Readonly<Record<string, string>>;
  /** What was sent, for people. */
  what: string;
}

/** Signs the given body, else a sample of the source's own, as its sender would at this moment. */
export function makeDelivery(
  { source, domain, secret, sender }: Pick<ConfiguredWebhook, 'source' | 'domain' | 'secret' | 'sender'>,
  { path, at, given }: { path: string; at: Date; given?: GivenBody | undefined },
): SignedDelivery {
  const event = testEvent(domain, at);
  const plain = given === undefined ? sender.sample(event) : given.json;
  const json = sender.withSecret === undefined ? plain : sender.withSecret(plain, secret);
  const body = given !== undefined && json === plain ? given.text : JSON.stringify(json);
  const headers = sender.headers({ body, json, secret, path, at, id: testDeliveryId() });
  return {
    body,
    headers: { 'content-type': 'application/json', ...headers },
    what: given === undefined ? `${source} sample "${event.title}"` : `${source} delivery with your body`,
  };
}
