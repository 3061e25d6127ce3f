import { generateWebhookSignature, verifyWebhookSignature } from '@hygraph/utils';
import { signEscapedHygraph, signHygraph } from '../signing/hygraph.ts';
import { expectToReadAnything, RECEIVED_AT, readerOf } from './source-reader.ts';
import { verifierOf } from './source-verifier.ts';

const read = readerOf('hygraph');

const data = {
  __typename: 'Article',
  createdAt: '2026-11-01T10:00:00.702044+00:00',
  createdBy: { __typename: 'User', id: 'user-0' },
  id: 'ckv8h2v6o0b3z0c57q2y5x9a1',
  localizations: [
    { locale: 'en', title: 'Hello', slug: 'hello' },
    { locale: 'de', title: 'Hallo', slug: 'hallo' },
  ],
  publishedAt: '2026-11-21T07:59:57.652216+00:00',
  publishedBy: { __typename: 'User', id: 'user-1' },
  stage: 'PUBLISHED',
  updatedAt: '2026-11-21T07:59:58.652216+00:00',
  updatedBy: { __typename: 'User', id: 'user-2' },
};

describe('a Hygraph entry', () => {
  test('that was published is read in its first language', () => {
    expect(read({ operation: 'publish', data })).toEqual({
      kind: 'publish',
      contentType: 'Article',
      paths: ['hello', 'hallo'],
      event: {
        source: 'hygraph',
        topic: 'publish',
        action: 'publish',
        id: 'ckv8h2v6o0b3z0c57q2y5x9a1',
        title: 'Hello',
        url: '',
        author: 'user-1',
        at: '2026-11-21T07:59:57.652Z',
      },
    });
  });

  test.each(['unpublish', 'delete'])('of which we are told "%s" is taken away', (operation) => {
    const event = { action: 'unpublish', topic: operation, author: 'user-2', at: '2026-11-21T07:59:58.652Z' };
    for (const stage of ['PUBLISHED', 'DRAFT']) {
      expect(read({ operation, data: { ...data, stage } })).toMatchObject({ kind: 'publish', event });
    }
  });

  test.each(['create', 'update'])('of which we are told "%s" is filtered while it is a draft only', (operation) => {
    const filtered = { kind: 'filtered', topic: operation, why: 'a draft was saved' };
    expect(read({ operation, data: { ...data, stage: 'DRAFT' } })).toEqual(filtered);
    expect(read({ operation, data }).kind).toBe('publish');
    expect(read({ operation, data: { ...data, stage: undefined } }).kind).toBe('publish');
  });

  test.each([
    [
      { __typename: 'Asset', id: 'a1', fileName: 'logo.svg', url: 'https://media.graphassets.com/x' },
      { title: 'logo.svg', url: 'https://media.graphassets.com/x' },
    ],
    [
      { id: 'a1', name: 'Ada', publishedBy: { name: 'Ada L', id: 'user-1' } },
      { title: 'Ada', author: 'Ada L' },
    ],
    [{ id: 'a1', localizations: { title: 'no list' } }, { title: 'a1' }],
    [
      { __typename: 'Article', id: 'a1', stage: 'PUBLISHED' },
      { id: 'a1', title: 'a1', at: RECEIVED_AT },
    ],
    [{}, { id: 'delivery-1', at: RECEIVED_AT }],
    [null, { id: 'delivery-1' }],
  ])('with the data %j is read to %j', (body, event) => {
    expect(read({ operation: 'publish', data: body })).toMatchObject({ kind: 'publish', event });
  });

  test('is read in more languages than a call takes arguments', () => {
    const localizations = [...Array(400_000).fill(0), { title: 'Last', slug: 'last' }];
    expect(read({ operation: 'publish', data: { id: 'a1', localizations } })).toMatchObject({
      paths: ['last'],
      event: { title: 'Last' },
    });
  });

  test('is chosen by operation, by model and by the slug of any language', () => {
    const only = (choice: object) => readerOf('hygraph', { only: choice })({ operation: 'publish', data });
    expect(only({ topic: 'unpublish' })).toMatchObject({ why: 'only.topic' });
    expect(only({ contentType: 'Page' })).toMatchObject({ why: 'only.contentType' });
    expect(only({ path: 'docs/**' })).toMatchObject({ why: 'only.path' });
    expect(only({ topic: 'publish', contentType: 'article', path: 'hallo' }).kind).toBe('publish');
  });

  test('is read whatever it holds', () => {
    expectToReadAnything(read, [
      'operation',
      'data',
      'stage',
      'localizations',
      'id',
      'title',
      'slug',
      'publishedBy',
      'url',
    ]);
  });
});

describe('a Hygraph signature', () => {
  const verify = verifierOf('hygraph', { secret: ['t', 's'] });
  const bodies = {
    plain: JSON.stringify({ operation: 'publish', data }),
    'with all of Unicode': JSON.stringify({ title: 'Grüße 👋 \u2028 "quoted" \\ \n', data }),
    'with what is escaped, as it is': JSON.stringify({ title: 'Q&A <b>' }),
    'with what is escaped, escaped': '{"title":"Q\\u0026A \\u003cb\\u003e"}',
  };

  test.each(Object.entries(bodies))("of a body %s is the vendor's own", async (_, body) => {
    const ours = signHygraph({ secret: 's', body, path: '/', at: new Date() });
    expect(verifyWebhookSignature({ rawPayload: body, secret: 's', signature: ours['gcms-signature'] ?? '' })).toBe(
      true,
    );
    const signature = generateWebhookSignature({ rawPayload: body, secret: 's', environmentName: 'staging' });
    expect(await verify({ 'gcms-signature': signature }, body)).toEqual({ ok: true, vendorId: null });
    expect(await verify({ 'gcms-signature': signature }, `${body} `)).toEqual({ ok: false, reason: 'bad-signature' });
  });

  test.each(Object.entries(bodies))('of a body %s may have been made over the escaped text', async (_, body) => {
    const headers = signEscapedHygraph({ secret: 's', body, path: '/', at: new Date() });
    expect(await verify(headers, body)).toEqual({ ok: true, vendorId: null });
    expect(await verify(headers, body.replace(/[a-z]/i, 'z'))).toEqual({ ok: false, reason: 'bad-signature' });
  });
});
