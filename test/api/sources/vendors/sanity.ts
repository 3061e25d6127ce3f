import { randomUUID } from 'node:crypto';
import { encodeSignatureHeader, SIGNATURE_HEADER_NAME } from '@sanity/webhook';
import {
  FIVE_MINUTES_MS,
  RECEIVED_AT,
  type SignedHeaders,
  type SignInput,
  type SourceCases,
  secretsOf,
  type Vendor,
} from '../vendor.ts';

export async function signSanity({ secret, body, at }: SignInput, operation = 'update'): Promise<SignedHeaders> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'sanity-project-id': 'zp7mbokg',
    'sanity-dataset': 'production',
    'sanity-document-id': 'post-1',
    'sanity-operation': operation,
    'sanity-transaction-id': randomUUID(),
    'sanity-transaction-time': at.toISOString(),
    'sanity-webhook-id': 'hook-1',
    'idempotency-key': randomUUID(),
    [SIGNATURE_HEADER_NAME]: await encodeSignatureHeader(body, at.getTime(), secret),
  };
}

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
const manyLanguages = [...Array(400_000).fill(0), { _key: 'de', value: 'Hallo' }];
const manyKeys = Object.fromEntries(Array.from({ length: 150_000 }, (_, index) => [`l${index}`, null]));
const DRAFT = 'the document is a draft or the version of a release';

const projected = (what: string, body: unknown, event: object): SourceCases['publishes'][number] => [
  `a projection to ${what}`,
  body,
  { event },
  sent('update'),
];

const cases: SourceCases = {
  example: [
    post,
    {
      contentType: 'post',
      paths: ['blog/hello'],
      event: { topic: 'update', id: 'post-1', title: 'Hello', at: '2026-11-21T07:59:59.500Z' },
    },
    sent('update'),
  ],
  publishes: [
    ['a new document', post, { event: { topic: 'create', action: 'publish' } }, sent('create')],
    ['a deleted document', post, { event: { topic: 'delete', action: 'unpublish' } }, sent('delete')],
    projected('locales', { title: { _type: 'localeString', en: 'Hello', de: 'Hallo' } }, { title: 'Hello' }),
    projected('a list of locales', { title: [{ _key: 'de', value: 'Hallo' }] }, { title: 'Hallo' }),
    projected('a name', { name: 'Ada', slug: 'ada' }, { title: 'Ada' }),
    projected('a slug', { slug: { current: 'ada' } }, { title: 'ada' }),
    projected(
      'a URL and an author',
      { url: 'https://a.example/b', author: 'user-1' },
      { url: 'https://a.example/b', author: 'user-1', title: 'post-1' },
    ),
    projected('a script', { url: 'javascript:alert(1)' }, { url: '' }),
    projected('nothing', {}, { id: 'post-1', title: 'post-1' }),
    projected('null', null, { id: 'post-1' }),
    projected('a list', [], { id: 'post-1' }),
    projected('a text', 'text', { id: 'post-1' }),
    projected('more locales than a call takes arguments', { title: manyLanguages }, { title: 'Hallo' }),
    projected('more keys than a call takes arguments', { title: { ...manyKeys, de: 'Hallo' } }, { title: 'Hallo' }),
    ['no headers', {}, { event: { topic: '', action: 'publish', id: 'delivery-1', at: RECEIVED_AT } }],
    ['a time in the body only', { _updatedAt: post._updatedAt }, { event: { at: '2026-11-21T07:59:58.000Z' } }],
    ['an id that only looks like a draft', { ...post, _id: 'draftsman' }, {}, sent('update')],
  ],
  filtered: ['drafts.post-1', 'versions.r1.post-1'].flatMap((id): SourceCases['filtered'] => [
    [`the id ${id} in the body`, { ...post, _id: id }, 'update', DRAFT, sent('update')],
    [`the id ${id} in the headers`, { title: 'x' }, 'update', DRAFT, sent('update', id)],
  ]),
  keys: ['_id', '_type', 'title', 'name', 'slug', 'current', 'path', 'url', 'author', 'value'],
  keyHeaders: [{}, sent('update'), sent('delete', 'x'.repeat(9_000))],
};

export const vendor: Vendor = {
  secrets: secretsOf('sanity'),
  scheme: {
    sign: (input) => signSanity(input),
    signature: 'sanity-webhook-signature',
    signedParts: [
      [/t=\d/, 't=9'],
      [/(?<=t=\d+)\d(?=,)/, ''],
      [/v1=/, 'v0='],
    ],
    signsBody: true,
    idOf: (headers) => headers['idempotency-key'],
    pastMs: FIVE_MINUTES_MS,
  },
  cases,
};
