import { signContentful } from '../../../helpers/sign-contentful.ts';
import type { SourceCases, Vendor } from '../vendor.ts';

const HEADERS = [
  'x-contentful-signed-headers',
  'x-contentful-timestamp',
  'x-contentful-topic',
  'x-contentful-idempotency-key',
];

const sys = {
  id: 'entry1',
  type: 'Entry',
  space: { sys: { id: 'space1' } },
  environment: { sys: { id: 'staging' } },
  publishedAt: '2026-11-21T07:59:58.123Z',
  updatedAt: '2026-11-20T00:00:00.000Z',
  publishedBy: { sys: { id: 'user1' } },
};
const deletedAt = '2026-11-21T07:00:00.000Z';
const tombstone = { sys: { ...sys, type: 'DeletedEntry', deletedAt, publishedBy: undefined } };
const topic = (name: string) => ({ 'x-contentful-topic': `ContentManagement.${name}` });

const titled = (fields: object | undefined, title: string): SourceCases['publishes'][number] => [
  `an entry with the fields ${JSON.stringify(fields)}`,
  { sys, fields },
  { event: { title } },
  topic('Entry.publish'),
];

const cases: SourceCases = {
  example: [
    { sys, fields: { slug: { 'en-US': 'hello' }, title: { 'en-US': 'Hello', de: 'Hallo' } } },
    {
      event: {
        topic: 'ContentManagement.Entry.publish',
        id: 'entry1',
        title: 'Hello',
        url: 'https://app.contentful.com/spaces/space1/environments/staging/entries/entry1',
        author: 'user1',
        at: sys.publishedAt,
      },
    },
    topic('Entry.publish'),
  ],
  publishes: [
    titled({ name: { de: 'Name' }, slug: { de: 'slug' } }, 'Name'),
    titled({ slug: { de: 'slug' } }, 'slug'),
    titled({ title: { de: '  ' }, name: { de: 'Name' } }, 'Name'),
    titled({ title: 'flat' }, 'flat'),
    titled({ other: { de: 'x' } }, 'entry1'),
    titled(undefined, 'entry1'),
    ...['Entry.unpublish', 'Entry.delete'].map((name): SourceCases['publishes'][number] => [
      `${name} of a tombstone`,
      tombstone,
      { event: { action: 'unpublish', title: 'entry1', author: '', at: deletedAt } },
      topic(name),
    ]),
    ...['Asset.publish', 'ContentType.publish'].map((name): SourceCases['publishes'][number] => [
      name,
      { sys },
      { event: { action: 'publish' } },
      topic(name),
    ]),
  ],
  filtered: ['Entry.save', 'Entry.auto_save', 'Entry.archive', 'Asset.create', 'Task.create'].map((name) => [
    name,
    { sys },
    `ContentManagement.${name}`,
    'the topic publishes nothing',
    topic(name),
  ]),
  unknown: {
    bodies: [{}, [], null, 'x', 7, { sys: 7, fields: [] }, { sys: { id: { a: 1 } } }],
    headers: topic('Entry.publish'),
  },
  keys: ['sys', 'id', 'fields', 'title', 'name', 'slug', 'space', 'contentType', 'publishedBy', 'publishedAt'],
  keyHeaders: ['Entry.publish', 'Entry.delete', 'Asset.publish', 'x'].map(topic),
};

export const vendor: Vendor = {
  secrets: ['a'.repeat(64), 'b'.repeat(64), 'c'.repeat(64)],
  scheme: {
    sign: (input) => signContentful(input),
    signature: 'x-contentful-signature',
    required: HEADERS,
    signed: [...HEADERS, 'content-type'],
    signsBody: true,
    idOf: (headers) => headers['x-contentful-idempotency-key'],
    pastMs: 30_000,
  },
  cases,
  sample: { url: expect.stringContaining('https://app.contentful.com/spaces/galley-test/') },
};
