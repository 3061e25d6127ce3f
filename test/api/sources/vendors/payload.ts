import {
  RECEIVED_AT,
  type SignedHeaders,
  type SignInput,
  type SourceCases,
  secretsOf,
  tokenScheme,
  type Vendor,
} from '../vendor.ts';

/** The headers of a hook with a custom token header. */
export function signPayload({ secret }: SignInput): SignedHeaders {
  return { 'content-type': 'application/json', 'x-galley-token': secret };
}

/** As the hook of docs/sources/payload.md sends it. */
const sent = (operation: string, doc: object = {}, beside: object = {}) => ({
  operation,
  collection: 'posts',
  previousStatus: 'published',
  user: 'ada@example.com',
  url: 'https://docs.example.com/posts/hello',
  doc: {
    id: '65f0c1',
    title: 'Hello',
    slug: 'hello',
    updatedAt: '2026-11-21T07:59:58.000Z',
    _status: 'published',
    ...doc,
  },
  ...beside,
});
const draft = { _status: 'draft' };
const REMOVED = { event: { action: 'unpublish' as const, at: RECEIVED_AT } };
const { collection: slug, previousStatus: _status, ...rest } = sent('update', draft);
/** The arguments that Payload passes to a hook. */
const given = (previousDoc: object) => ({ ...rest, collection: { slug, auth: false }, previousDoc });
const global = { operation: 'update', global: 'header', doc: { globalType: 'header' } };

const cases: SourceCases = {
  example: [
    sent('update'),
    {
      contentType: 'posts',
      paths: ['/posts/hello'],
      event: {
        topic: 'update',
        id: '65f0c1',
        title: 'Hello',
        url: 'https://docs.example.com/posts/hello',
        author: 'ada@example.com',
        at: '2026-11-21T07:59:58.000Z',
      },
    },
  ],
  publishes: [
    ['a new document', sent('create'), { event: { topic: 'create', action: 'publish' } }],
    ['a deleted document', sent('delete'), REMOVED],
    ['a deleted draft', sent('delete', draft), REMOVED],
    ['a deleted document without drafts', sent('delete', { _status: undefined }), REMOVED],
    ['a document in the trash', sent('update', { deletedAt: RECEIVED_AT }), { event: { action: 'unpublish' } }],
    ['a draft that may have been published', sent('update', draft), { event: { action: 'other' } }],
    ['what a hook is given', given({ _status }), { contentType: 'posts' }],
    ['a document without drafts', sent('update', { _status: undefined }, { previousStatus: undefined }), {}],
    ['a global', global, { contentType: 'header', event: { id: 'delivery-1' } }],
  ],
  filtered: [
    ['a draft that was one', sent('update', draft, { previousStatus: 'draft' }), 'update', 'the document is a draft'],
    ['a new draft', sent('update', draft, { previousStatus: undefined }), 'update', 'the document is a draft'],
    ['a draft as a hook is given it', given(draft), 'update', 'the document is a draft'],
  ],
  unknown: { bodies: [null, [], 'x', {}, { operation: 7, doc: 'x' }] },
  keys: ['operation', 'doc', '_status', 'previousStatus', 'collection', 'url', 'user', 'title', 'id'],
};

export const vendor: Vendor = {
  secrets: secretsOf('payload'),
  settings: { header: 'X-Galley-Token' },
  scheme: tokenScheme(signPayload, 'x-galley-token'),
  cases,
};
