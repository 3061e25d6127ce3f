import { createHash } from 'node:crypto';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { configWith, publishedSignals, type RunningApi, startApi } from './running-api.ts';
import { withPrismicSecret } from './signing/prismic.ts';

const SECRETS = ['hush-prism-a', 'hush-prism-b'] as const;
const [SECRET] = SECRETS;

let temporal: TestTemporal;
let api: RunningApi;

beforeAll(async () => {
  temporal = await connectTemporal();
  const prismic = { secret: SECRETS };
  const patient = { secret: SECRETS, answer: 200 };
  api = await startApi({
    client: temporal.client,
    config: configWith({ docs: { webhooks: { prismic } }, patient: { webhooks: { prismic: patient } } }),
  });
});

afterAll(async () => {
  await api.stop();
  await temporal.stop();
});

const post = (body: string | Buffer, site = 'docs') =>
  fetch(`${api.url}/webhooks/${site}/prismic`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });

async function expectRefused(body: string | Buffer): Promise<void> {
  const answer = await post(body);
  expect(await answer.json()).toEqual({ error: 'the delivery could not be verified' });
  expect(answer.status).toBe(401);
}

describe('a Prismic delivery, whose secret stands in its body', () => {
  test('is accepted once Temporal holds it, by either of two secrets, and is known for a minute by the rest of its body', async () => {
    for (const [index, secret] of SECRETS.entries()) {
      const change = { masterRef: `ref-${index}` };
      const answer = await post(withPrismicSecret(secret, change));
      expect(answer.status).toBe(202);
      const id = `sha256:${createHash('sha256')
        .update(withPrismicSecret(null, { ...change, secret: undefined }))
        .digest('hex')}`;
      expect(await answer.json()).toEqual({ deliveryId: id, accepted: ['export:docs'] });
      const held = await publishedSignals(temporal.client, 'docs');
      expect(held.at(-1)?.deliveries).toMatchObject([{ id, source: 'prismic', dedupeMs: 60_000 }]);
    }
  });

  test('that is nested deeper than anything could be written back is refused, and breaks nothing', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    await expectRefused(`{"secret":"${SECRET}","type":"api-update","a":${deep}}`);
  });

  test.each([
    ['another', 'hush-prism-c'],
    ['one that is wrong in its first character', `x${SECRET.slice(1)}`],
    ['one that is wrong in its last character', `${SECRET.slice(0, -1)}x`],
    ['a shorter', SECRET.slice(0, -1)],
    ['a longer', `${SECRET}a`],
    ['two in one', `${SECRETS[0]}${SECRETS[1]}`],
    ['one in capitals', SECRET.toUpperCase()],
    ['one in base64', Buffer.from(SECRET).toString('base64')],
    ['an empty', ''],
    ['no', null],
  ])('is refused with %s secret', async (_what, secret) => {
    await expectRefused(withPrismicSecret(secret));
  });

  test.each([
    ['a list of secrets', [...SECRETS]],
    ['an object', { toString: SECRET }],
    ['a truth', true],
    ['a number', 7],
  ])('is refused with %s in the secret’s place', async (_what, secret) => {
    await expectRefused(withPrismicSecret(null, { secret }));
  });

  test.each([
    ['nothing', ''],
    ['half of it', withPrismicSecret(SECRET).slice(0, -1)],
    ['the secret alone', SECRET],
    ['the secret as a JSON text', JSON.stringify(SECRET)],
    ['null', 'null'],
    ['a list', `[${withPrismicSecret(SECRET)}]`],
    ['a prototype with the secret', `{"__proto__": ${withPrismicSecret(SECRET)}}`],
    ['the secret one level down', JSON.stringify({ body: { secret: SECRET } })],
    ['bytes that are no UTF-8', Buffer.concat([Buffer.from(withPrismicSecret(SECRET)), Buffer.from([0xff])])],
  ])('is refused whose body is %s', async (_what, body) => {
    await expectRefused(body);
  });

  test('keeps its secret out of Temporal, the log and the answer, and a test of it starts nothing', async () => {
    const answer = await post(withPrismicSecret(SECRET, { type: 'test-trigger', masterRef: undefined }));
    expect(answer.status).toBe(202);
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({ accepted: [] });
    const history = await temporal.client.workflow.getHandle('export:docs').fetchHistory();
    const everything = [
      text,
      ...api.log,
      JSON.stringify(history),
      JSON.stringify(await publishedSignals(temporal.client, 'docs')),
    ];
    expect(everything.join().toLowerCase()).not.toContain('hush-prism');
  });

  test('is answered 200 where the site says so, because Prismic takes anything else for a failure', async () => {
    const answer = await post(withPrismicSecret(SECRET), 'patient');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ accepted: ['export:patient'] });
  });
});

test('no other status than 200 and 202 can be configured for a delivery that was taken', () => {
  const configure = (answer: number) => () => configWith({ docs: { webhooks: { prismic: { secret: 'x', answer } } } });
  expect(configure(201)).toThrow(/expected 200 or 202/);
  expect(configure(202)).not.toThrow();
});
