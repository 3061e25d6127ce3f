import {
  type SignedHeaders,
  type SignInput,
  type SourceCases,
  secretsOf,
  tokenScheme,
  UNPUBLISH,
  type Vendor,
} from '../vendor.ts';
import { signToken } from './token.ts';

export function signStrapi(input: SignInput, event = 'entry.publish'): SignedHeaders {
  return { ...signToken(input), 'x-strapi-event': event };
}

/** As version 5 writes it; version 4 has neither `uid` nor `documentId`. */
const delivery = (event: string, change: object = {}) => ({
  event,
  createdAt: '2026-11-21T07:59:59.000Z',
  model: 'article',
  uid: 'api::article.article',
  entry: {
    id: 12,
    documentId: 'a1b2c3d4e5f6g7h8i9j0klm',
    title: 'Hello',
    slug: 'hello',
    createdAt: '2026-11-20T00:00:00.000Z',
    updatedAt: '2026-11-21T07:59:58.000Z',
    publishedAt: '2026-11-21T07:59:58.000Z',
    updatedBy: { id: 1, firstname: 'Ada', lastname: 'Lovelace', username: null },
    ...change,
  },
});
const { uid: _uid, ...version4 } = delivery('entry.publish', { documentId: undefined });

const media = (event: string, action: string): SourceCases['publishes'][number] => [
  event,
  {
    event,
    createdAt: '2026-11-21T07:59:59.000Z',
    media: { id: 1, name: 'image.png', url: '/uploads/image.png', mime: 'image/png' },
  },
  { event: expect.objectContaining({ action, title: 'image.png', url: '' }) },
];
const release = (isPublished: boolean) => ({
  event: 'releases.publish',
  createdAt: '2026-11-21T07:00:00.000Z',
  isPublished,
  release: { id: 2, name: 'Fall highlights', releasedAt: '2026-11-21T07:00:00.000Z' },
});
const header = (event: string) => ({ 'x-strapi-event': event });

const cases: SourceCases = {
  example: [
    delivery('entry.publish'),
    {
      contentType: 'article',
      event: {
        topic: 'entry.publish',
        id: 'a1b2c3d4e5f6g7h8i9j0klm',
        title: 'Hello',
        author: 'Ada',
        at: '2026-11-21T07:59:59.000Z',
      },
    },
    header('entry.publish'),
  ],
  publishes: [
    ['version 4', version4, { contentType: 'article', event: { id: '12' } }],
    ...['entry.unpublish', 'entry.delete'].flatMap((event): SourceCases['publishes'] => [
      [`${event} of a published entry`, delivery(event), UNPUBLISH],
      [`${event} of a draft`, delivery(event, { publishedAt: null }), UNPUBLISH],
    ]),
    ...['entry.create', 'entry.update'].flatMap((event): SourceCases['publishes'] => [
      [`${event} of a published entry`, delivery(event), {}],
      [`${event} of an entry without drafts`, delivery(event, { publishedAt: undefined }), {}],
    ]),
    media('media.create', 'publish'),
    media('media.update', 'publish'),
    media('media.delete', 'unpublish'),
    ['a release', release(true), { event: { id: '2', title: 'Fall highlights' } }],
    ['an event in the header only', {}, UNPUBLISH, header('entry.delete')],
  ],
  filtered: [
    ['a new draft', delivery('entry.create', { publishedAt: null }), 'entry.create', 'the entry is a draft'],
    ['a saved draft', delivery('entry.update', { publishedAt: null }), 'entry.update', 'the entry is a draft'],
    ['a failed release', release(false), 'releases.publish', 'the release failed'],
    ...['trigger-test', 'entry.draft-discard', 'review-workflows.updateEntryStage'].flatMap(
      (event): SourceCases['filtered'] => [
        [event, { event }, event, expect.any(String)],
        [`${event} in the header only`, {}, event, expect.any(String), header(event)],
      ],
    ),
  ],
  unknown: { bodies: [null, [], 'x', {}, { event: 7, entry: 'x' }, { event: 'entry.update', entry: null }] },
  keys: ['event', 'entry', 'media', 'release', 'model', 'uid', 'publishedAt', 'title', 'updatedBy', 'createdAt'],
  keyHeaders: ['entry.update', 'releases.publish', 'media.delete'].map(header),
};

export const vendor: Vendor = {
  secrets: secretsOf('strapi'),
  scheme: tokenScheme((input) => signStrapi(input)),
  cases,
};
