import { RECEIVED_AT, type SourceCases } from './vendor.ts';

const at = '2026-11-21T07:00:00.000Z';
const standardEvent = {
  type: 'page.published',
  timestamp: '2026-11-21T07:00:00Z',
  data: { id: 'p1', title: 'Hello', url: 'https://a.b', author: 'ada' },
};
const strapiEvent = {
  event: 'entry.unpublish',
  createdAt: 'x',
  entry: { id: 7, title: 'Hallo', updatedBy: { username: 'ada' } },
};
const directusEvent = {
  event: 'articles.items.update',
  keys: ['a1'],
  payload: { title: 'Neu' },
  accountability: { user: 'u1' },
};
const ghostEvent = { post: { current: { id: 'g1', title: 'Now', url: 'https://g/now' }, previous: { title: 'Then' } } };
const wordpressEvent = {
  ...{ id: 12, title: { rendered: 'Hello' }, link: 'https://wp/hello' },
  ...{ author: 3, date: '2026-11-21T07:00:00Z' },
};

/** For the sources whose senders may send any JSON. */
export const jsonCases: SourceCases = {
  example: [
    standardEvent,
    { event: { topic: 'page.published', id: 'p1', title: 'Hello', url: 'https://a.b', author: 'ada', at } },
  ],
  publishes: [
    [
      'an entry as Strapi writes it',
      strapiEvent,
      { event: { topic: 'entry.unpublish', action: 'unpublish', id: '7', title: 'Hallo', author: 'ada' } },
    ],
    [
      'an item as Directus writes it',
      directusEvent,
      { event: { topic: 'articles.items.update', id: 'a1', title: 'Neu', author: 'u1' } },
    ],
    ['a post as Ghost writes it', ghostEvent, { event: { id: 'g1', title: 'Now', url: 'https://g/now' } }],
    [
      'a post as WordPress writes it',
      wordpressEvent,
      { event: { id: '12', title: 'Hello', url: 'https://wp/hello', author: '3', at } },
    ],
    ['an id', { id: 'x' }, { event: { topic: '', action: 'publish', id: 'x', title: 'x', at: RECEIVED_AT } }],
    ['a link that is a script', { id: 'x', url: 'javascript:alert(1)' }, { event: { url: '' } }],
  ],
  filtered: [],
  unknown: { bodies: [null, [], 'x', {}] },
  keys: ['id', 'title', 'url', 'type', 'event', 'data', 'entry', 'sys', 'fields', 'x'],
};
