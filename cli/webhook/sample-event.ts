import { randomInt, randomUUID } from 'node:crypto';
import type { SampleEvent } from '../../api/webhooks/source.ts';

/** Exports, agents and reviewers see these texts, so they say that it is a test. */
const TITLE = 'A test from galley webhook send';
const SLUG = 'a-test-from-galley-webhook-send';

/** `randomInt` allows a range of less than 2^48. */
const [LOWEST_NUMBER, HIGHEST_NUMBER] = [100_000_000_000_000, 281_000_000_000_000];

/** An event that differs from every other one. */
export function sampleEvent(domain: string, at: Date): SampleEvent {
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
export function testDeliveryId(): string {
  return `galley-test-${randomUUID()}`;
}
