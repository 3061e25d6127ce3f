import { verifyRequest } from '@contentful/node-apps-toolkit';
import { Webhooks } from '@octokit/webhooks';
import { isValidSignature } from '@sanity/webhook';
import { Webhook } from 'standardwebhooks';
import { configuredWebhook } from '../../cli/webhook/configured-webhook.ts';
import type { GivenBody } from '../../cli/webhook/make-delivery.ts';
import { makeDelivery, type SignedDelivery } from '../../cli/webhook/make-delivery.ts';
import { post, verdictOf } from '../../cli/webhook/verdict.ts';
import { startRecordingApi } from '../api/running-api.ts';
import { vendorOf, vendors } from '../api/sources/vendors.ts';
import { NEWEST, webhooksOfAll, writeConfig } from './webhook-fixture.ts';

const AT = new Date('2026-11-21T08:00:00.000Z');
const TITLE = 'A test from galley webhook send';
const SLUG = 'a-test-from-galley-webhook-send';

const newestOf = (source: string): string => vendorOf(source).secrets[0];

const site = (source: string) => ({ webhooks: { [source]: webhooksOfAll[source] } });
const file = await writeConfig({
  ...Object.fromEntries(vendors.map(({ source }) => [source, site(source)])),
  patient: { webhooks: { prismic: { secret: NEWEST, answer: 200 } } },
  proxied: { webhooks: { contentful: { secret: NEWEST, path: '/hooks/contentful' } } },
});
const api = await startRecordingApi(file.config, {}, { now: () => AT });

afterAll(async () => {
  await api.stop();
  await file.remove();
});

type Parts = Parameters<typeof makeDelivery>[1];

/** Each source has a site of the same name by default. */
async function signed(source: string, more: Partial<Parts> = {}, site = source): Promise<SignedDelivery> {
  const webhook = await configuredWebhook({ configPath: file.path, variables: {} }, site, source);
  return makeDelivery(webhook, { path: `/webhooks/${site}/${source}`, at: AT, ...more });
}

async function sent(source: string, more: Partial<Parts> = {}, site = source) {
  const url = new URL(`/webhooks/${site}/${source}`, api.url);
  return verdictOf(await post(url, await signed(source, more, site)), { url, site, source });
}

/** Characters that any escaping, re-encoding or trimming would change. */
function oddlyWritten({ body }: SignedDelivery): GivenBody {
  const json: unknown = { ...JSON.parse(body), note: 'a < b && c > "d" \\u0026 \u2028 ünï 🚢' };
  return { json, text: `${JSON.stringify(json, null, 2)}\r\n\n` };
}

describe.each(vendors)('the sample of $source', ({ source, sample }) => {
  test('is accepted by the receiver as a publish marked as a test, also the second time', async () => {
    const [first, second] = [await sent(source), await sent(source)];
    for (const verdict of [first, second]) {
      expect(verdict).toMatchObject({ outcome: 'accepted', status: 202, accepted: [`export:${source}`] });
    }
    const signals = api.published(`export:${source}`);
    expect(signals.flatMap(({ deliveries }) => deliveries.map(({ id }) => id))).toEqual([
      first.deliveryId,
      second.deliveryId,
    ]);
    expect(first.deliveryId).not.toBe(second.deliveryId);
    expect(signals.at(-1)?.newest).toMatchObject({
      source,
      action: 'publish',
      title: TITLE,
      url: `https://${source}.example.com/${SLUG}`,
      topic: expect.stringMatching(/\w/),
      id: expect.stringMatching(/\w/),
      at: AT.toISOString(),
      ...sample,
    });
  });

  test('is accepted from a file with unusual characters and spaces, byte for byte', async () => {
    const given = oddlyWritten(await signed(source));
    if (source !== 'prismic') expect((await signed(source, { given })).body).toBe(given.text);
    expect(await sent(source, { given })).toMatchObject({ outcome: 'accepted', accepted: [`export:${source}`] });
  });
});

test('a source that responds 200 has accepted the delivery', async () => {
  const accepted = { outcome: 'accepted', status: 200, accepted: ['export:patient'] };
  expect(await sent('prismic', {}, 'patient')).toMatchObject(accepted);
});

test('Contentful signs the configured path even if a proxy changes it', async () => {
  const accepted = { outcome: 'accepted', accepted: ['export:proxied'] };
  expect(await sent('contentful', {}, 'proxied')).toMatchObject(accepted);
});

describe('a given body', () => {
  const given = (json: unknown): Partial<Parts> => ({ given: { json, text: JSON.stringify(json) } });

  test.each([
    ['github', { ref: 'refs/heads/release' }, 'x-github-event', 'push'],
    ['github', { action: 'closed', pull_request: {} }, 'x-github-event', 'pull_request'],
    ['github', { action: 'submitted', pull_request: {}, review: {} }, 'x-github-event', 'pull_request_review'],
    ['contentful', { sys: { type: 'Asset' } }, 'x-contentful-topic', 'ContentManagement.Asset.publish'],
    ['contentful', { sys: { type: 'DeletedEntry' } }, 'x-contentful-topic', 'ContentManagement.Entry.unpublish'],
    ['contentful', 'nothing', 'x-contentful-topic', 'ContentManagement.Entry.publish'],
    ['strapi', { event: 'entry.unpublish' }, 'x-strapi-event', 'entry.unpublish'],
    ['strapi', { event: 'two\nlines' }, 'x-strapi-event', 'entry.publish'],
    ['contentful', { sys: { type: 'a\nb' } }, 'x-contentful-topic', 'ContentManagement.Entry.publish'],
    ['sanity', { _id: 'drafts.a' }, 'sanity-document-id', 'drafts.a'],
    ['sanity', { _id: 'a\nb' }, 'sanity-document-id', expect.stringMatching(/^galley-test-/)],
  ])('is sent to %s as the event that it describes: %j', async (source, body, header, value) => {
    expect((await signed(source, given(body))).headers[header]).toEqual(value);
  });

  test('for Prismic keeps its secret, and gets one if it has none', async () => {
    const secretOf = async (body: object): Promise<unknown> =>
      JSON.parse((await signed('prismic', given(body))).body).secret;
    expect(await Promise.all([{ secret: 'own' }, { secret: null }, {}].map(secretOf))).toEqual([
      'own',
      newestOf('prismic'),
      newestOf('prismic'),
    ]);
  });

  test('is sent even if it is null', async () => {
    expect((await signed('token', given(null))).body).toBe('null');
  });
});

describe("a vendor's own verifier accepts the signature of", () => {
  const path = '/webhooks/x/y';
  const header = ({ headers }: SignedDelivery, name: string): string => headers[name] ?? '';

  test('standard webhooks', async () => {
    const delivery = await signed('standard', { at: new Date() });
    expect(new Webhook(newestOf('standard')).verify(delivery.body, { ...delivery.headers })).toMatchObject({
      type: 'entry.published',
    });
  });

  test('github', async () => {
    const delivery = await signed('github');
    const signature = header(delivery, 'x-hub-signature-256');
    expect(await new Webhooks({ secret: newestOf('github') }).verify(delivery.body, signature)).toBe(true);
  });

  test('contentful', async () => {
    const { body, headers } = await signed('contentful', { path });
    const noExpiry = 0;
    const request = { method: 'POST' as const, path, headers: { ...headers }, body };
    expect(verifyRequest(newestOf('contentful'), request, noExpiry)).toBe(true);
  });

  test('sanity', async () => {
    const delivery = await signed('sanity');
    expect(
      await isValidSignature(delivery.body, header(delivery, 'sanity-webhook-signature'), newestOf('sanity')),
    ).toBe(true);
  });
});
