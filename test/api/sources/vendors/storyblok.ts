import { createHmac } from 'node:crypto';
import {
  RECEIVED_AT,
  type SignedHeaders,
  type SignInput,
  type SourceCases,
  secretsOf,
  type Vendor,
} from '../vendor.ts';

export function signStoryblok({ secret, body }: SignInput): SignedHeaders {
  return {
    'content-type': 'application/json',
    'webhook-signature': createHmac('sha1', secret).update(body).digest('hex'),
  };
}

const space_id = 316761;
const story = (action: string, text = `The user ada@example.com ${action} the Story Hello (blog/hello)`) => ({
  text,
  action,
  space_id,
  story_id: 86063839668228,
  full_slug: 'blog/hello',
});

const event = (kind: string, body: object, read: object): SourceCases['publishes'][number] => [
  `${kind} ${JSON.stringify(body)}`,
  { ...body, space_id },
  { contentType: kind, event: read },
];
const described = (text: string, title: string, author: string): SourceCases['publishes'][number] => [
  `a story described as ${JSON.stringify(text)}`,
  story('published', text),
  { event: { title, author } },
];
const filtered = (action: string, body: object): SourceCases['filtered'][number] => [
  `${action} ${JSON.stringify(body)}`,
  { action, ...body, space_id },
  action,
  expect.stringMatching(/ /),
];

const DISCUSSION = { discussion_id: 8, story_id: 1 };
const STAGE = { story_id: 1, workflow_stage_name: 'Reviewing' };
const MERGED = 'The release Summer has been merged.';

const cases: SourceCases = {
  example: [
    story('published'),
    {
      contentType: 'story',
      paths: ['blog/hello'],
      event: {
        topic: 'published',
        id: '86063839668228',
        title: 'Hello',
        url: 'https://app.storyblok.com/#/me/spaces/316761/stories/0/0/86063839668228',
        author: 'ada@example.com',
        at: RECEIVED_AT,
      },
    },
  ],
  publishes: [
    ['a moved story', story('moved'), { event: { topic: 'moved', action: 'publish', author: 'ada@example.com' } }],
    ['an unpublished story', story('unpublished'), { event: { topic: 'unpublished', action: 'unpublish' } }],
    ['a deleted story', story('deleted'), { event: { topic: 'deleted', action: 'unpublish' } }],
    described('The user Ada L published the Story A (b) c (blog/a)\nhttps://app.storyblok.com/#/x', 'A (b) c', 'Ada L'),
    described('Something else happened\nhttps://app.storyblok.com/#/x', 'blog/hello', ''),
    described('', 'blog/hello', ''),
    event('story', { action: 'deleted', text: 'Gone', story_id: 1 }, { id: '1', action: 'unpublish' }),
    event('asset', { action: 'replaced', text: 'Asset replaced', asset_id: 7 }, { id: '7', action: 'publish' }),
    event('asset', { action: 'restored', text: 'Asset restored', asset_id: 7 }, { id: '7', action: 'publish' }),
    event('asset', { action: 'deleted', text: 'Asset deleted', asset_id: 7 }, { id: '7', action: 'unpublish' }),
    event(
      'datasource',
      { action: 'entries_updated', text: 'Saved', datasource_slug: 'menu' },
      { id: 'menu', title: 'Saved' },
    ),
    event('datasource', { action: 'datasource_entry_saved', datasource_slug: 'menu' }, { action: 'publish' }),
    event('release', { action: 'merged', text: MERGED, release_id: 3 }, { id: '3' }),
    event('release', { action: 'release_merged', text: MERGED, release_id: 3 }, { id: '3' }),
    event('release', { text: MERGED, release_id: 3 }, { topic: '', action: 'publish' }),
    event('pipeline', { action: 'deployed', text: 'The branch Live has been deployed.', branch_id: 5 }, { id: '5' }),
    event('pipeline', { action: 'branch_deployed', branch_id: 5 }, { id: '5', title: '5', url: '' }),
  ],
  filtered: [
    filtered('created', { asset_id: 7 }),
    filtered('created', { discussion_id: 8 }),
    filtered('saved', { story_id: 1, full_slug: 'home' }),
    ...['comment_created', 'comment_updated', 'comment_deleted', 'resolved'].map((action) =>
      filtered(action, DISCUSSION),
    ),
    ...['added', 'removed', 'roles_updated'].map((action) => filtered(action, { user_id: 9 })),
    ...['stage.changed', 'workflow_stage_changed'].map((action) => filtered(action, STAGE)),
  ],
  unknown: { bodies: ['something_new', 'constructor', '__proto__', 'toString'].map((action) => ({ action })) },
  keys: ['action', 'text', 'story_id', 'space_id', 'full_slug', 'asset_id', 'release_id'],
};

export const vendor: Vendor = {
  secrets: secretsOf('storyblok'),
  scheme: { sign: signStoryblok, signature: 'webhook-signature', signsBody: true },
  cases,
  sample: { url: expect.stringContaining('https://app.storyblok.com/') },
};
