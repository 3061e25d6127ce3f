import { signatureHelper } from '@kontent-ai/webhook-helper';
import { type SignedHeaders, type SignInput, type SourceCases, secretsOf, UNPUBLISH, type Vendor } from '../vendor.ts';

export function signKontent({ secret, body }: SignInput, header = 'x-kontent-ai-signature'): SignedHeaders {
  return { 'content-type': 'application/json', [header]: signatureHelper.getHashFromString(body, secret) };
}

export function signLegacyKontent(input: SignInput): SignedHeaders {
  return signKontent(input, 'x-kc-signature');
}

const EDITOR = 'https://app.kontent.ai/goto/edit-item/project';
const system = {
  id: 'c5bb0d1e-8e5b-4a1c-9ad7-2f2a0f0a0001',
  name: 'Circuit boards',
  codename: 'circuit_boards',
  collection: 'default',
  workflow: 'default',
  workflow_step: 'published',
  language: 'en-US',
  type: 'article',
  last_modified: '2026-11-21T07:53:29.4993828Z',
};
const environment = 'b259760f-81c5-013a-05e7-69efb4b954e5';
const notification = (change: object = {}, data: object = {}) => ({
  data: { system: { ...system, ...data } },
  message: {
    environment_id: environment,
    object_type: 'content_item',
    action: 'published',
    delivery_slot: 'published',
    ...change,
  },
});
const asset = (action: string) => ({
  data: { system: { id: 'a1', name: 'Logo', codename: 'logo' } },
  message: { object_type: 'asset', action, delivery_slot: 'published' },
});
const several = (...notifications: object[]) => ({ notifications });
const preview = notification({ delivery_slot: 'preview' });
const away = notification({ action: 'unpublished' }, { name: 'Away' });
const last = notification({}, { name: 'Last', type: 'page' });
const read = (topic: string, action: 'publish' | 'unpublish' = 'publish') => ({ event: { topic, action } });

const item = { id: 'f0e9e9fa', codename: 'christian_bale', collection: 'default', language: 'en', type: 'actor' };
const taxonomies = { items: [], taxonomies: [{ id: 't1', codename: 'topics' }] };
const legacy = (change: object = {}, data: object = { items: [item], taxonomies: [] }) => ({
  data,
  message: {
    id: '790b5fea',
    project_id: 'b259760f',
    type: 'content_item_variant',
    operation: 'publish',
    api_name: 'delivery_production',
    created_timestamp: '2026-11-21T08:05:07.4044893Z',
    webhook_url: 'https://galley.example.com/webhooks/handbook/kontent',
    ...change,
  },
});

const cases: SourceCases = {
  example: [
    several(notification()),
    {
      topics: ['content_item.published'],
      contentType: ['article'],
      event: {
        topic: 'content_item.published',
        id: system.id,
        title: 'Circuit boards',
        url: `${EDITOR}/${environment}/variant-codename/en-US/item/${system.id}`,
        at: '2026-11-21T07:53:29.499Z',
      },
    },
  ],
  publishes: [
    ['a notification by itself', notification(), { contentType: ['article'], event: { title: 'Circuit boards' } }],
    ['an unpublished item', several(away), read('content_item.unpublished', 'unpublish')],
    ['changed metadata', several(notification({ action: 'metadata_changed' })), read('content_item.metadata_changed')],
    ['a changed asset', several(asset('changed')), read('asset.changed')],
    ['a deleted asset', several(asset('deleted')), read('asset.deleted', 'unpublish')],
    [
      'a changed term',
      several(notification({ object_type: 'taxonomy', action: 'term_changed' })),
      read('taxonomy.term_changed'),
    ],
    ['a new language', several(notification({ object_type: 'language', action: 'created' })), read('language.created')],
    ['an unknown slot', several(notification({ delivery_slot: 'something new' })), read('content_item.published')],
    ['no slot', several(notification({ delivery_slot: undefined })), read('content_item.published')],
    [
      'the last publish among several notifications',
      several(notification(), last, away, preview),
      {
        topics: expect.arrayContaining(['content_item.published', 'content_item.unpublished']),
        contentType: ['article', 'page'],
        event: { title: 'Last', action: 'publish' },
      },
    ],
    ['an unpublish after a preview', several(preview, away), { event: { title: 'Away', action: 'unpublish' } }],
    [
      'a legacy notification',
      legacy(),
      {
        contentType: ['actor'],
        event: {
          topic: 'content_item_variant.publish',
          action: 'publish',
          id: 'f0e9e9fa',
          title: 'christian_bale',
          url: `${EDITOR}/b259760f/variant-codename/en/item/f0e9e9fa`,
          at: '2026-11-21T08:05:07.404Z',
        },
      },
    ],
    ['a legacy upsert', legacy({ operation: 'upsert' }), { event: { action: 'publish' } }],
    ['a legacy restore', legacy({ operation: 'restore' }), { event: { action: 'publish' } }],
    ['a legacy unpublish', legacy({ operation: 'unpublish' }), UNPUBLISH],
    ['a legacy archive', legacy({ operation: 'archive' }), UNPUBLISH],
    [
      'a legacy taxonomy',
      legacy({ type: 'taxonomy', operation: 'upsert' }, taxonomies),
      { event: { title: 'topics' } },
    ],
  ],
  filtered: [
    [
      'a step in the preview',
      several(notification({ action: 'workflow_step_changed', delivery_slot: 'preview' })),
      'content_item.workflow_step_changed',
      'a change in the preview',
    ],
    ['no notification', several(), '', 'the delivery holds no notification'],
    [
      'a legacy preview',
      legacy({ api_name: 'delivery_preview' }),
      'content_item_variant.publish',
      'a change in the preview',
    ],
    [
      'a legacy step in the management API',
      legacy({ api_name: 'content_management' }),
      'content_item_variant.publish',
      'a step in the management API, no publish',
    ],
  ],
  keys: ['notifications', 'data', 'system', 'items', 'message', 'type', 'action', 'id', 'name', 'language'],
};

export const vendor: Vendor = {
  secrets: secretsOf('kontent'),
  scheme: { sign: (input) => signKontent(input), signature: 'x-kontent-ai-signature', signsBody: true },
  cases,
  sample: { url: expect.stringContaining('https://app.kontent.ai/') },
};
