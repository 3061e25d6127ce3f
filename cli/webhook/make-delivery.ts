import { randomInt, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import {
  type SampleEvent,
  type SignedRequest,
  SigningError,
  type UnsignedDelivery,
} from '../../api/webhooks/source.ts';
import { errorCode, errorText } from '../../base/error-code.ts';
import { UsageError } from '../command-error.ts';
import type { ConfiguredWebhook } from './configured-webhook.ts';

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

/** A body from the user: the text of the file, and the parsed JSON. */
export interface GivenBody {
  text: string;
  json: unknown;
}

/**
 * Reads the file, or standard input for `-`. The text is kept as it is, because its bytes are signed.
 * @throws UsageError if it can't be read or isn't JSON in UTF-8.
 */
export async function readBody(file: string, input: NodeJS.ReadableStream): Promise<GivenBody> {
  const text = decode(file, file === '-' ? await buffer(input) : await readBytes(file));
  try {
    return { text, json: JSON.parse(text) };
  } catch (error) {
    throw new UsageError(`--body ${file}: expected JSON: ${errorText(error)}`);
  }
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new UsageError(`--body ${file}: expected a readable file (${errorCode(error) ?? errorText(error)})`);
  }
}

function decode(file: string, bytes: Buffer): string {
  try {
    // Keeps a byte order mark, which then fails as JSON: the receiver rejects it too.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(`--body ${file}: expected JSON in UTF-8`);
  }
}
