import { RECEIVED_AT, type SourceCases, secretsOf, tokenScheme, UNPUBLISH, type Vendor } from '../vendor.ts';
import { signToken } from './token.ts';

const USER = '5c1ff7ee-9d4f-44f5-a9c7-1fd9f3b0c7d1';

const update = (payload: object = { title: 'Neu', body: 'x' }) => ({
  event: 'articles.items.update',
  payload,
  keys: ['a1', 'a2'],
  collection: 'articles',
});
const created = (payload: object) => ({ event: 'items.create', payload, key: 7, collection: 'articles' });
const file = { title: 'Photo', type: 'image/png', date_updated: '2026-11-21T07:00:00.000Z' };
const manual = { path: '/flows/trigger/1', query: {}, body: { collection: 'articles', keys: ['a1'] }, method: 'POST' };

const cases: SourceCases = {
  example: [
    update(),
    { contentType: 'articles', event: { topic: 'articles.items.update', id: 'a1', title: 'Neu', at: RECEIVED_AT } },
  ],
  publishes: [
    [
      'a flow with its user',
      { trigger: update(), user: USER },
      { contentType: 'articles', event: { id: 'a1', author: USER } },
    ],
    ['a trigger with its user', { ...update(), accountability: { user: USER } }, { event: { author: USER } }],
    ['a flow of nobody, in a template', { trigger: update(), user: 'null' }, { event: { id: 'a1', author: '' } }],
    ['a flow of nobody, in a script', { trigger: update(), user: 'undefined' }, { event: { author: '' } }],
    ['a flow of nobody', { trigger: update(), user: null }, { event: { author: '' } }],
    ['a new item', created({ title: 'Neu' }), { event: { action: 'publish', id: '7', title: 'Neu' } }],
    ['a new published item', created({ status: 'published' }), {}],
    ['an item that becomes a draft', update({ status: 'draft' }), UNPUBLISH],
    ['an archived item', update({ status: 'archived' }), UNPUBLISH],
    [
      'deleted items',
      { event: 'articles.items.delete', payload: ['a1'], keys: ['a1'], collection: 'articles' },
      { event: { action: 'unpublish', id: 'a1', title: 'a1' } },
    ],
    [
      'a file',
      { event: 'files.upload', payload: file, key: 'f1', collection: 'directus_files' },
      { event: { title: 'Photo', at: file.date_updated } },
    ],
    ['a flow started by hand', manual, { contentType: 'articles', event: { topic: 'manual', id: 'a1' } }],
  ],
  filtered: [
    ['a new draft', created({ title: 'Neu', status: 'draft' }), 'items.create', 'the item is a draft'],
    ['a login', { event: 'auth.login', payload: {}, user: 'u1' }, 'auth.login', 'the event publishes nothing'],
    ...['directus_activity', 'directus_versions'].map((collection): SourceCases['filtered'][number] => [
      `a record in ${collection}`,
      { event: 'items.create', collection, key: 1, payload: {} },
      'items.create',
      'a record of Directus itself',
    ]),
  ],
  unknown: { bodies: [null, [], 'x', {}, { event: 7, keys: 'x', payload: 'x' }] },
  keys: ['event', 'trigger', 'collection', 'keys', 'key', 'payload', 'status', 'body', 'user', 'title'],
};

export const vendor: Vendor = { secrets: secretsOf('directus'), scheme: tokenScheme(signToken), cases };
