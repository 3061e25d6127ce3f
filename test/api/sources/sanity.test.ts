import { signSanity } from '../signing/sanity.ts';
import { expectToReadAnything, RECEIVED_AT, readerOf } from './source-reader.ts';
import { verifierOf } from './source-verifier.ts';

const read = readerOf('sanity');

const sent = (operation: string, id = 'post-1') => ({
  'sanity-operation': operation,
  'sanity-document-id': id,
  'sanity-project-id': 'zp7mbokg',
  'sanity-dataset': 'production',
  'sanity-transaction-time': '2026-11-21T07:59:59.500Z',
});

/** As a webhook without a projection sends it: the whole document. */
const post = {
  _createdAt: '2026-11-01T10:00:00Z',
  _id: 'post-1',
  _rev: 'aqXkN2',
  _type: 'post',
  _updatedAt: '2026-11-21T07:59:58Z',
  author: { _ref: 'person-1', _type: 'reference' },
  slug: { _type: 'slug', current: 'blog/hello' },
  title: 'Hello',
};

describe('a Sanity document', () => {
  test.each([
    ['create', 'publish'],
    ['update', 'publish'],
    ['delete', 'unpublish'],
  ])('of which we are told "%s" is read as %s', (operation, action) => {
    expect(read(post, sent(operation))).toEqual({
      kind: 'publish',
      contentType: 'post',
      paths: ['blog/hello'],
      event: {
        source: 'sanity',
        topic: operation,
        action,
        id: 'post-1',
        title: 'Hello',
        url: '',
        author: '',
        at: '2026-11-21T07:59:59.500Z',
      },
    });
  });

  test.each([
    [{ title: { _type: 'localeString', en: 'Hello', de: 'Hallo' } }, { title: 'Hello' }],
    [{ title: [{ _key: 'de', value: 'Hallo' }] }, { title: 'Hallo' }],
    [{ name: 'Ada', slug: 'ada' }, { title: 'Ada' }],
    [{ slug: { current: 'ada' } }, { title: 'ada' }],
    [
      { url: 'https://a.example/b', author: 'user-1' },
      { url: 'https://a.example/b', author: 'user-1', title: 'post-1' },
    ],
    [{ url: 'javascript:alert(1)' }, { url: '' }],
    [{}, { id: 'post-1', title: 'post-1' }],
    [null, { id: 'post-1' }],
    [[], { id: 'post-1' }],
    ['text', { id: 'post-1' }],
  ])('that a projection made %j is read to %j', (body, event) => {
    expect(read(body, sent('update'))).toMatchObject({ kind: 'publish', event });
  });

  test('is read in more languages than a call takes arguments', () => {
    const title = [...Array(400_000).fill(0), { _key: 'de', value: 'Hallo' }];
    expect(read({ title }, sent('update'))).toMatchObject({ event: { title: 'Hallo' } });
    const keys = Object.fromEntries(Array.from({ length: 150_000 }, (_, index) => [`l${index}`, null]));
    expect(read({ title: { ...keys, de: 'Hallo' } }, sent('update'))).toMatchObject({ event: { title: 'Hallo' } });
  });

  test('is known by its delivery and read at its receipt where neither body nor headers tell', () => {
    const event = { topic: '', action: 'publish', id: 'delivery-1', at: RECEIVED_AT };
    expect(read({})).toMatchObject({ kind: 'publish', event });
    expect(read({ _updatedAt: post._updatedAt })).toMatchObject({ event: { at: '2026-11-21T07:59:58.000Z' } });
  });

  test('that is a draft or belongs to a release is filtered, by whichever id says so', () => {
    const filtered = { kind: 'filtered', topic: 'update', why: 'the document is a draft or the version of a release' };
    for (const id of ['drafts.post-1', 'versions.r1.post-1']) {
      expect(read({ ...post, _id: id }, sent('update'))).toEqual(filtered);
      expect(read({ title: 'x' }, sent('update', id))).toEqual(filtered);
    }
    expect(read({ ...post, _id: 'draftsman' }, sent('update')).kind).toBe('publish');
  });

  test('is chosen by operation, type and path', () => {
    const only = (choice: object) => readerOf('sanity', { only: choice })(post, sent('delete'));
    expect(only({ topic: ['create', 'update'] })).toMatchObject({ why: 'only.topic' });
    expect(only({ contentType: 'page' })).toMatchObject({ why: 'only.contentType' });
    expect(only({ path: '/docs/**' })).toMatchObject({ why: 'only.path' });
    expect(only({ topic: 'delete', contentType: 'post', path: 'blog/*' }).kind).toBe('publish');
  });

  test('is read whatever a projection makes of it', () => {
    expectToReadAnything(
      read,
      ['_id', '_type', 'title', 'name', 'slug', 'current', 'path', 'url', 'author', 'value'],
      [{}, sent('update'), sent('delete', 'x'.repeat(9_000))],
    );
  });
});

describe('the id of a Sanity delivery', () => {
  const input = { secret: 's', body: '{}', path: '/', at: new Date() };
  const verify = verifierOf('sanity', { secret: 's' });

  test('is its idempotency key, and none where that is missing', async () => {
    const headers = await signSanity(input);
    expect(await verify(headers, '{}')).toEqual({ ok: true, vendorId: headers['idempotency-key'] });
    const { 'idempotency-key': _key, ...rest } = headers;
    expect(await verify(rest, '{}')).toEqual({ ok: true, vendorId: null });
  });

  test('comes with a signature that may have a space before its second part', async () => {
    const headers = await signSanity(input);
    const spaced = headers['sanity-webhook-signature']?.replace(',', ', ') ?? '';
    expect(await verify({ ...headers, 'sanity-webhook-signature': spaced }, '{}')).toMatchObject({ ok: true });
  });

  test('and its time are held to the window that is configured', async () => {
    const narrow = verifierOf('sanity', { secret: 's', window: { past: '2s', future: '1s' } });
    const headers = await signSanity(input);
    const later = (ms: number) => new Date(input.at.getTime() + ms);
    expect(await narrow(headers, '{}', later(1_999))).toMatchObject({ ok: true });
    expect(await narrow(headers, '{}', later(2_001))).toEqual({ ok: false, reason: 'stale' });
    expect(await narrow(headers, '{}', later(-1_001))).toEqual({ ok: false, reason: 'future' });
  });
});
