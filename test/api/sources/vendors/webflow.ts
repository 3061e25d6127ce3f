import { createHmac } from 'node:crypto';
import {
  FIVE_MINUTES_MS,
  RECEIVED_AT,
  type SignedHeaders,
  type SignInput,
  type SourceCases,
  secretsOf,
  type Vendor,
} from '../vendor.ts';

/** As the vendor's own verifier (`webflow-api`, WebhooksClient.verifySignature) expects it. */
export function signWebflow({ secret, body, at }: SignInput): SignedHeaders {
  const timestamp = String(at.getTime());
  return {
    'content-type': 'application/json',
    'x-webflow-timestamp': timestamp,
    'x-webflow-signature': createHmac('sha256', secret).update(`${timestamp}:${body}`).digest('hex'),
  };
}

const item = {
  id: '582b900cba19143b2bb8a759',
  siteId: '65427cf400e02b306eaa049c',
  workspaceId: '65427cf400e02b306eaa0490',
  collectionId: '65427cf400e02b306eaa04a1',
  cmsLocaleId: null,
  lastPublished: '2026-11-21T07:59:50.000Z',
  lastUpdated: '2026-11-21T07:59:50.120Z',
  createdOn: '2026-11-01T00:00:00.000Z',
  isArchived: false,
  isDraft: false,
  fieldData: { name: 'Hello world', slug: 'hello-world' },
};
const other = { ...item, id: 'other', collectionId: 'authors', publishedPath: '/authors/ada' };
const staged = { ...item, lastPublished: null };
const page = { siteId: item.siteId, pageId: 'p1', pageTitle: 'Start', publishedPath: '/start' };
const site = {
  siteId: '62749158efef318abc8d5a0f',
  publishedOn: '2026-11-21T07:43:20Z',
  domains: ['docs.example.com', 'example.webflow.io'],
  publishedBy: { displayName: 'Ada Lovelace' },
};
const sent = (triggerType: string, payload: unknown) => ({ triggerType, payload });

const WRITES = ['collection_item_created', 'collection_item_changed'];
const UNRELATED = [
  'form_submission',
  'comment_created',
  'ecomm_new_order',
  'ecomm_order_changed',
  'user_account_added',
];

const cases: SourceCases = {
  example: [
    sent('collection_item_published', { items: [item] }),
    {
      contentType: [item.collectionId],
      paths: [],
      event: { topic: 'collection_item_published', id: item.id, title: 'Hello world', at: item.lastPublished },
    },
  ],
  publishes: [
    [
      'a published site',
      sent('site_publish', site),
      {
        event: {
          topic: 'site_publish',
          id: site.siteId,
          title: 'docs.example.com',
          url: 'https://docs.example.com',
          author: 'Ada Lovelace',
          at: '2026-11-21T07:43:20.000Z',
        },
      },
    ],
    ['a site with a forged domain', sent('site_publish', { domains: ['a b"><script>'] }), { event: { url: '' } }],
    [
      'an item without a list',
      sent('collection_item_published', item),
      { contentType: [item.collectionId], event: { id: item.id, title: 'Hello world' } },
    ],
    [
      'several items',
      sent('collection_item_published', { items: [item, other] }),
      { contentType: [item.collectionId, 'authors'], paths: ['/authors/ada'] },
    ],
    ['a live item among staged ones', sent('collection_item_changed', { items: [staged, item] }), {}],
    ...['collection_item_unpublished', 'collection_item_deleted'].map((topic): SourceCases['publishes'][number] => [
      topic,
      sent(topic, { id: item.id, siteId: item.siteId }),
      { event: { topic, action: 'unpublish', id: item.id, at: RECEIVED_AT } },
    ]),
    ...WRITES.flatMap((topic): SourceCases['publishes'] => [
      [`${topic} of a live item`, sent(topic, item), { event: { action: 'publish' } }],
      [`${topic} of an item with an id only`, sent(topic, { id: item.id }), {}],
    ]),
    ['a changed page', sent('page_metadata_updated', page), { paths: ['/start'], event: { id: 'p1', title: 'Start' } }],
    ['a deleted page', sent('page_deleted', page), { event: { id: 'p1', title: 'Start', action: 'unpublish' } }],
  ],
  filtered: [
    ['a new page', sent('page_created', page), 'page_created', 'a new page goes live when the site is published'],
    ...WRITES.flatMap((topic): SourceCases['filtered'] => {
      const why = 'the item is not published yet';
      return [
        [`${topic} of a draft`, sent(topic, { ...item, isDraft: true }), topic, why],
        [`${topic} of an item never published`, sent(topic, staged), topic, why],
        [`${topic} of a staged item`, sent(topic, { ...item, lastUpdated: '2026-11-21T08:05:00.000Z' }), topic, why],
        [`${topic} of only staged items`, sent(topic, { items: [staged, staged] }), topic, why],
      ];
    }),
    ...UNRELATED.map((topic): SourceCases['filtered'][number] => [
      topic,
      sent(topic, {}),
      topic,
      'the trigger publishes nothing',
    ]),
  ],
  unknown: {
    bodies: [null, [], 'x', {}, { triggerType: 7, payload: 'x' }, { triggerType: 'ecomm_inventory_changed' }],
  },
  keys: ['triggerType', 'payload', 'items', 'id', 'fieldData', 'domains', 'publishedBy', 'lastPublished'],
  keyWrappers: ['site_publish', 'collection_item_changed'].map((topic) => (payload) => sent(topic, payload)),
};

export const vendor: Vendor = {
  secrets: secretsOf('webflow'),
  scheme: {
    sign: signWebflow,
    signature: 'x-webflow-signature',
    required: ['x-webflow-timestamp'],
    signed: ['x-webflow-timestamp'],
    signsBody: true,
    pastMs: FIVE_MINUTES_MS,
  },
  cases,
  sample: { url: '' },
};
