import { verifyRequest } from '@contentful/node-apps-toolkit';
import { Webhooks } from '@octokit/webhooks';
import { isValidSignature } from '@sanity/webhook';
import { Webhook } from 'standardwebhooks';
import { configuredWebhook } from '../../cli/webhook/configured-webhook.ts';
import { makeDelivery, type SignedDelivery } from '../../cli/webhook/make-delivery.ts';
import { post } from '../../cli/webhook/post.ts';
import type { GivenBody } from '../../cli/webhook/read-body.ts';
import { verdictOf } from '../../cli/webhook/verdict.ts';
import type { PublishEvent } from '../../contract/publish-event.ts';
import type { WebhookSourceName } from '../../contract/webhook-sources.ts';
import { publishedSignals, type RunningApi, startApi } from '../api/running-api.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { ALL_SOURCES, type ConfigFile, NEWEST, webhooksOfAll, writeConfig } from './webhook-rig.ts';

const TITLE = 'A test from galley webhook send';
const SLUG = 'a-test-from-galley-webhook-send';

/** Where an event can't tell what the sample of most sources does. */
const TELLS: Partial<Record<WebhookSourceName, Partial<Record<keyof PublishEvent, unknown>>>> = {
  github: { url: expect.stringMatching(/^https:\/\/github\.com\/.*\/commit\/[0-9a-f]{40}$/) },
  contentful: { url: expect.stringContaining('https://app.contentful.com/spaces/galley-test/') },
  storyblok: { url: expect.stringContaining('https://app.storyblok.com/') },
  kontent: { url: expect.stringContaining('https://app.kontent.ai/') },
  webflow: { url: '' },
  prismic: { title: SLUG, url: 'https://galley-test.prismic.io' },
};

let temporal: TestTemporal;
let api: RunningApi;
let file: ConfigFile;

beforeAll(async () => {
  temporal = await connectTemporal();
  const site = (source: string) => ({ webhooks: { [source]: webhooksOfAll[source] } });
  file = await writeConfig({
    ...Object.fromEntries(ALL_SOURCES.map((source) => [source, site(source)])),
    patient: { webhooks: { prismic: { secret: NEWEST, answer: 200 } } },
    proxied: { webhooks: { contentful: { secret: NEWEST, path: '/hooks/contentful' } } },
  });
  api = await startApi({ client: temporal.client, config: file.config });
});

afterAll(async () => {
  await api.stop();
  await temporal.stop();
  await file.remove();
});

type Parts = Parameters<typeof makeDelivery>[1];

/** Each source has a site of its own, of the same name. */
async function signed(source: string, more: Partial<Parts> = {}): Promise<SignedDelivery> {
  const webhook = await configuredWebhook({ configPath: file.path, variables: {} }, source, source);
  return makeDelivery(webhook, { path: `/webhooks/${source}/${source}`, at: new Date(), ...more });
}

async function sent(source: string, more: Partial<Parts> = {}) {
  const url = new URL(`/webhooks/${source}/${source}`, api.url);
  return verdictOf(await post(url, await signed(source, more)), { url, site: source, source });
}

/** What escaping, re-encoding or trimming anywhere on the way would change. */
function oddlyWritten({ body }: SignedDelivery): GivenBody {
  const json: unknown = { ...JSON.parse(body), note: 'a < b && c > "d" \\u0026 \u2028 ünï 🚢' };
  return { json, text: `${JSON.stringify(json, null, 2)}\r\n\n` };
}

describe('the sample of each source', () => {
  test.each(ALL_SOURCES)(
    'is accepted by the receiver as a publish that says it is a test, twice in a row: %s',
    async (source) => {
      const [first, second] = [await sent(source), await sent(source)];
      for (const verdict of [first, second]) {
        expect(verdict).toMatchObject({ outcome: 'accepted', status: 202, accepted: [`export:${source}`] });
      }
      expect(first.deliveryId).not.toBe(second.deliveryId);
      const signals = await publishedSignals(temporal.client, source);
      expect(signals.flatMap(({ deliveries }) => deliveries.map(({ id }) => id)).sort()).toEqual(
        [first.deliveryId, second.deliveryId].sort(),
      );
      expect(signals.at(-1)?.newest).toMatchObject({
        source,
        action: 'publish',
        title: TITLE,
        url: `https://${source}.example.com/${SLUG}`,
        topic: expect.stringMatching(/\w/),
        id: expect.stringMatching(/\w/),
        ...TELLS[source],
      });
      expect(Math.abs(Date.parse(signals.at(-1)?.newest.at ?? '') - Date.now())).toBeLessThan(120_000);
    },
  );

  test.each(ALL_SOURCES)('is accepted as a file with odd signs and spaces in it, too: %s', async (source) => {
    const given = oddlyWritten(await signed(source));
    if (source !== 'prismic') expect((await signed(source, { given })).body).toBe(given.text);
    expect(await sent(source, { given })).toMatchObject({ outcome: 'accepted', accepted: [`export:${source}`] });
  });

  test.each(ALL_SOURCES)('signed with a secret that the receiver does not have is refused: %s', async (source) => {
    const foreign = await writeConfig({
      [source]: { webhooks: { [source]: { ...webhooksOfAll[source], secret: foreignSecret(source) } } },
    });
    const webhook = await configuredWebhook({ configPath: foreign.path, variables: {} }, source, source);
    await foreign.remove();
    const url = new URL(`/webhooks/${source}/${source}`, api.url);
    const delivery = makeDelivery(webhook, { path: url.pathname, at: new Date() });
    const verdict = verdictOf(await post(url, delivery), { url, site: source, source });
    expect(verdict).toMatchObject({ outcome: 'refused', status: 401, accepted: [] });
  });
});

function foreignSecret(source: string): string {
  return source === 'standard' ? `whsec_${Buffer.from('f'.repeat(32)).toString('base64')}` : 'f'.repeat(64);
}

test('A source that answers 200 has accepted all the same', async () => {
  const webhook = await configuredWebhook({ configPath: file.path, variables: {} }, 'patient', 'prismic');
  const url = new URL('/webhooks/patient/prismic', api.url);
  const delivery = makeDelivery(webhook, { path: url.pathname, at: new Date() });
  const verdict = verdictOf(await post(url, delivery), { url, site: 'patient', source: 'prismic' });
  expect(verdict).toMatchObject({ outcome: 'accepted', status: 200, accepted: ['export:patient'] });
});

test('Contentful signs the configured path, which a proxy changes on the way', async () => {
  const webhook = await configuredWebhook({ configPath: file.path, variables: {} }, 'proxied', 'contentful');
  const url = new URL('/webhooks/proxied/contentful', api.url);
  const delivery = makeDelivery(webhook, { path: url.pathname, at: new Date() });
  const verdict = verdictOf(await post(url, delivery), { url, site: 'proxied', source: 'contentful' });
  expect(verdict).toMatchObject({ outcome: 'accepted', accepted: ['export:proxied'] });
});

describe('a body of one’s own', () => {
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
  ])('is sent to %s as the event that it is: %j', async (source, body, header, value) => {
    expect((await signed(source, given(body))).headers[header]).toEqual(value);
  });

  test('of Prismic keeps the secret that it has, and gets one where it has none', async () => {
    const secretOf = async (body: object): Promise<unknown> =>
      JSON.parse((await signed('prismic', given(body))).body).secret;
    expect(await Promise.all([{ secret: 'own' }, { secret: null }, {}].map(secretOf))).toEqual(['own', NEWEST, NEWEST]);
  });

  test('is sent also where it is null', async () => {
    expect((await signed('token', given(null))).body).toBe('null');
  });
});

describe("a vendor's own verifier takes the signature of", () => {
  const [path, at] = ['/webhooks/x/y', new Date()];
  const header = ({ headers }: SignedDelivery, name: string): string => headers[name] ?? '';

  test('standard webhooks', async () => {
    const delivery = await signed('standard', { at });
    const key = Buffer.from(NEWEST).toString('base64');
    expect(new Webhook(`whsec_${key}`).verify(delivery.body, { ...delivery.headers })).toMatchObject({
      type: 'entry.published',
    });
  });

  test('github', async () => {
    const delivery = await signed('github');
    const signature = header(delivery, 'x-hub-signature-256');
    expect(await new Webhooks({ secret: NEWEST }).verify(delivery.body, signature)).toBe(true);
  });

  test('contentful', async () => {
    const { body, headers } = await signed('contentful', { path });
    expect(verifyRequest(NEWEST, { method: 'POST', path, headers: { ...headers }, body })).toBe(true);
  });

  test('sanity', async () => {
    const delivery = await signed('sanity');
    expect(await isValidSignature(delivery.body, header(delivery, 'sanity-webhook-signature'), NEWEST)).toBe(true);
  });
});
