import {
  RECEIVED_AT,
  type SignedHeaders,
  type SignInput,
  type SourceCases,
  secretsOf,
  tokenScheme,
  UNPUBLISH,
  type Vendor,
} from '../vendor.ts';
import { signToken } from './token.ts';

/** As the plugin WP Webhooks sends, with its Bearer authentication. */
export function signWordpress(input: SignInput, trigger = 'post_update'): SignedHeaders {
  return {
    ...signToken(input),
    'content-type': 'application/json; charset=UTF-8',
    'x-wp-webhook-source': 'https://blog.example.com/',
    'x-wp-webhook-name': trigger,
    'x-wp-webhook-url-name': 'galley',
  };
}

/** As the plugin WP Webhooks writes it. */
const sent = (post: object = {}, beside: object = {}) => ({
  post_id: 12,
  post: {
    ID: 12,
    post_author: '1',
    post_date: '2026-11-20 15:00:00',
    post_date_gmt: '2026-11-20 14:00:00',
    post_title: 'Hello world!',
    post_status: 'publish',
    post_name: 'hello-world',
    post_modified: '2026-11-21 08:59:00',
    post_modified_gmt: '2026-11-21 07:59:00',
    post_type: 'post',
    ...post,
  },
  post_meta: {},
  post_thumbnail: false,
  post_permalink: 'https://blog.example.com/hello-world/',
  taxonomies: {},
  ...beside,
});
const by = (trigger: string) => ({ 'x-wp-webhook-name': trigger });
const was = (post_status: string) => ({ post_before: { ID: 12, post_status } });

const unknownBefore = sent({ post_status: 'draft' }, { post_before: false });
const trashed = 'https://blog.example.com/hello-world__trashed/';
const rest = {
  ...{ id: 12, type: 'page', status: 'publish' },
  ...{ title: { rendered: 'Hi' }, link: 'https://a.b/hi/', author: 3 },
};
const hidden = (status: string, old: string): SourceCases['filtered'][number] => [
  `a post that is ${status} and was ${old}`,
  sent({ post_status: status }, was(old)),
  'post_update',
  `the post is not published: ${status}`,
  by('post_update'),
];

const cases: SourceCases = {
  example: [
    sent({}, was('draft')),
    {
      contentType: 'post',
      paths: ['/hello-world/'],
      event: {
        topic: 'post_update',
        id: '12',
        title: 'Hello world!',
        url: 'https://blog.example.com/hello-world/',
        author: '1',
        at: '2026-11-21T07:59:00.000Z',
      },
    },
    by('post_update'),
  ],
  publishes: [
    ['a new post', sent(), { event: { topic: 'post_create', action: 'publish' } }, by('post_create')],
    [
      'the small plugin, with its event and author',
      sent({}, { event: 'transition_post_status', author: 'Ada', ...was('publish') }),
      { event: { topic: 'transition_post_status', author: 'Ada', action: 'publish' } },
    ],
    ...['draft', 'pending', 'private', 'future', 'trash'].map((status): SourceCases['publishes'][number] => [
      `a post that becomes ${status}`,
      sent({ post_status: status }, was('publish')),
      UNPUBLISH,
      by('post_update'),
    ]),
    ['a draft that may have been published', unknownBefore, UNPUBLISH, by('post_update')],
    [
      'a post in the trash, with the path of its page',
      sent({ post_status: 'trash' }, { post_permalink: trashed }),
      { paths: ['/hello-world/'], event: { action: 'unpublish', url: 'https://blog.example.com/hello-world/' } },
      by('post_trash'),
    ],
    ...['publish', 'trash', 'inherit'].map((status): SourceCases['publishes'][number] => [
      `a deleted post that was ${status}`,
      sent({ post_status: status }),
      { event: { action: 'unpublish', at: RECEIVED_AT } },
      by('post_delete'),
    ]),
    [
      'a hidden post without a path, so that no pattern filters it',
      sent({ post_status: 'draft' }, { post_permalink: 'https://blog.example.com/?p=12', ...was('publish') }),
      { paths: undefined },
      by('post_update'),
    ],
    [
      'a post of the REST API',
      rest,
      { contentType: 'page', event: { id: '12', title: 'Hi', url: 'https://a.b/hi/', author: '3' } },
    ],
  ],
  filtered: [
    hidden('draft', 'draft'),
    hidden('draft', 'new'),
    hidden('pending', 'draft'),
    hidden('trash', 'draft'),
    hidden('auto-draft', 'publish'),
    ['a new draft', unknownBefore, 'post_create', 'the post is not published: draft', by('post_create')],
    ['a deleted draft', unknownBefore, 'post_delete', 'the post is not published: draft', by('post_delete')],
    ...['revision', 'customize_changeset', 'oembed_cache'].map((type): SourceCases['filtered'][number] => [
      `a record of the type ${type}`,
      sent({ post_type: type, post_status: 'inherit' }),
      'post_create',
      'a record of WordPress itself',
      by('post_create'),
    ]),
  ],
  unknown: { bodies: [null, [], 'x', {}, { post: 7, post_id: {} }, { post_permalink: 'javascript:alert(1)' }] },
  keys: ['event', 'post', 'post_status', 'post_before', 'post_type', 'post_permalink', 'post_title', 'title', 'ID'],
  keyHeaders: ['post_create', 'post_update', 'post_trash', 'post_delete'].map(by),
};

export const vendor: Vendor = {
  secrets: secretsOf('wordpress'),
  scheme: tokenScheme((input) => signWordpress(input)),
  cases,
};
