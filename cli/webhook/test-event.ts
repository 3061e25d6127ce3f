import { randomInt, randomUUID } from 'node:crypto';
import type { TestEvent } from './sender.ts';

/** What exports, agents and reviewers are told: nobody shall take it for somebody's work. */
const TITLE = 'A test from galley webhook send';
const SLUG = 'a-test-from-galley-webhook-send';

/** `randomInt` draws from less than 2^48. */
const [LOWEST_NUMBER, HIGHEST_NUMBER] = [100_000_000_000_000, 281_000_000_000_000];

export function testEvent(domain: string, at: Date): TestEvent {
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

/** Told by its first word in lists of deliveries. */
export function testDeliveryId(): string {
  return `galley-test-${randomUUID()}`;
}
