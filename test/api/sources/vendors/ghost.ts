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

/** As Ghost does in `services/webhooks/webhook-trigger.js`; it publishes no package for it. */
export function signGhost({ secret, body, at }: SignInput, text = `${body}${at.getTime()}`): SignedHeaders {
  return {
    'content-type': 'application/json',
    'content-version': 'v5.130',
    'x-ghost-signature': `sha256=${createHmac('sha256', secret).update(text).digest('hex')}, t=${at.getTime()}`,
  };
}

/** Ghost before July 2024, which left the time out of what it signed. */
export function signOldGhost(input: SignInput): SignedHeaders {
  return signGhost(input, input.body);
}

const post = {
  id: '673f0c1a2b3c4d5e6f708192',
  uuid: 'b1c0',
  title: 'Hello',
  slug: 'hello',
  status: 'published',
  url: 'https://blog.example/hello/',
  created_at: '2026-11-20T10:00:00.000Z',
  updated_at: '2026-11-21T07:59:58.000Z',
  published_at: '2026-11-21T07:59:58.000Z',
  primary_author: { id: '1', name: 'Joe Bloggs', slug: 'joe-bloggs' },
  authors: [{ id: '1', name: 'Joe Bloggs' }],
  tags: [],
};
const draft = { ...post, status: 'draft', url: 'https://blog.example/p/b1c0/', published_at: null };
const scheduled = { ...draft, status: 'scheduled' };
const wasDraft = { status: 'draft', published_at: null, updated_at: '2026-11-20T10:00:00.000Z' };
const wasPublished = { status: 'published' };
const edited = { title: 'Helo', updated_at: '2026-11-20T10:00:00.000Z' };
const tag = { id: 't1', name: 'News' };
const member = { id: 'm1', email: 'a@b.c' };

const change = (current: object, previous: object, kind = 'post') => ({ [kind]: { current, previous } });
const read = (topic: string, action: 'publish' | 'unpublish' = 'publish') => ({ event: { topic, action } });

const NOT_PUBLISHED = 'it is draft, not published';

const cases: SourceCases = {
  example: [
    change(post, wasDraft),
    {
      contentType: 'post',
      paths: ['/hello/'],
      event: {
        topic: 'post.published',
        id: post.id,
        title: 'Hello',
        url: post.url,
        author: 'Joe Bloggs',
        at: post.updated_at,
      },
    },
  ],
  publishes: [
    ['a post published at once', change(post, {}), read('post.published')],
    ['a post that was scheduled', change(post, { status: 'scheduled' }), read('post.published')],
    ['an edited post', change(post, edited), read('post.published.edited')],
    ['a post sent by email', change({ ...post, status: 'sent' }, wasDraft), read('post.published')],
    [
      'a post that becomes a draft, without the URL of its preview',
      change(draft, wasPublished),
      { paths: undefined, event: { topic: 'post.unpublished', action: 'unpublish', url: '', title: 'Hello' } },
    ],
    [
      'a post that becomes a draft and had a public URL',
      change(draft, { ...wasPublished, url: post.url }),
      { paths: ['/hello/'], event: { action: 'unpublish', url: post.url } },
    ],
    ['a post that becomes scheduled', change(scheduled, wasPublished), read('post.unpublished', 'unpublish')],
    [
      'a deleted post',
      change({}, post),
      { event: { topic: 'post.deleted', action: 'unpublish', id: post.id, title: 'Hello', at: RECEIVED_AT } },
    ],
    ['a post without its states', { post: {} }, read('post.published')],
    ['a page', change(post, wasDraft, 'page'), read('page.published')],
    ['a page that becomes a draft', change(draft, wasPublished, 'page'), read('page.unpublished', 'unpublish')],
    ['a new tag', change(tag, {}, 'tag'), read('tag.added')],
    ['a changed tag', change(tag, { name: 'New' }, 'tag'), read('tag.edited')],
    ['a deleted tag', change({}, tag, 'tag'), read('tag.deleted', 'unpublish')],
    [
      'a change of the site',
      {},
      { contentType: undefined, paths: undefined, event: { topic: 'site.changed', action: 'publish' } },
    ],
  ],
  filtered: [
    ['a new draft', change(draft, {}), 'post.added', NOT_PUBLISHED],
    ['a saved draft', change(draft, edited), 'post.edited', NOT_PUBLISHED],
    ['a tag put on a draft', change(draft, { tags: [] }), 'post.edited', NOT_PUBLISHED],
    ['a scheduled post', change(scheduled, wasDraft), 'post.scheduled', 'it is scheduled, not published'],
    ['a deleted draft', change({}, draft), 'post.deleted', 'it was not published'],
    ['a new draft of a page', change(draft, {}, 'page'), 'page.added', NOT_PUBLISHED],
    ['a member', change(member, {}, 'member'), 'member.added', 'members are not part of the site'],
  ],
  keys: ['post', 'page', 'tag', 'member', 'current', 'previous', 'status', 'url', 'id', 'title'],
};

export const vendor: Vendor = {
  secrets: secretsOf('ghost'),
  scheme: {
    sign: (input) => signGhost(input),
    signature: 'x-ghost-signature',
    signedParts: [
      [/t=\d/, 't=9'],
      [/, t=\d+/, ''],
      [/sha256=/, 'sha1='],
    ],
    signsBody: true,
    pastMs: FIVE_MINUTES_MS,
  },
  cases,
};
