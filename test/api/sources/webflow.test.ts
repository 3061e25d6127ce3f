import { expectToReadAnything, RECEIVED_AT, readerOf } from './source-reader.ts';

const read = readerOf('webflow');

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

const sent = (triggerType: string, payload: unknown) => read({ triggerType, payload });

describe('a Webflow delivery', () => {
  test('of a published site tells who published it, and where', () => {
    const payload = {
      siteId: '62749158efef318abc8d5a0f',
      publishedOn: '2026-11-21T07:43:20Z',
      domains: ['docs.example.com', 'example.webflow.io'],
      publishedBy: { displayName: 'Ada Lovelace' },
    };
    expect(sent('site_publish', payload)).toEqual({
      kind: 'publish',
      event: {
        source: 'webflow',
        topic: 'site_publish',
        action: 'publish',
        id: '62749158efef318abc8d5a0f',
        title: 'docs.example.com',
        url: 'https://docs.example.com',
        author: 'Ada Lovelace',
        at: '2026-11-21T07:43:20.000Z',
      },
    });
  });

  test.each([
    ['its fields', item],
    ['a list of one', { items: [item] }],
  ])('of a published item is read from %s', (_what, payload) => {
    expect(sent('collection_item_published', payload)).toEqual({
      kind: 'publish',
      contentType: [item.collectionId],
      paths: [],
      event: {
        source: 'webflow',
        topic: 'collection_item_published',
        action: 'publish',
        id: item.id,
        title: 'Hello world',
        url: '',
        author: '',
        at: '2026-11-21T07:59:50.000Z',
      },
    });
  });

  test('of several items tells the collection and path of each', () => {
    const other = { ...item, id: 'other', collectionId: 'authors', publishedPath: '/authors/ada' };
    const reading = sent('collection_item_published', { items: [item, other] });
    expect(reading).toMatchObject({ contentType: [item.collectionId, 'authors'], paths: ['/authors/ada'] });
    const staged = { ...item, lastPublished: null };
    expect(sent('collection_item_changed', { items: [staged, item] }).kind).toBe('publish');
    expect(sent('collection_item_changed', { items: [staged, staged] }).kind).toBe('filtered');
  });

  test.each(['collection_item_unpublished', 'collection_item_deleted'])('of %s takes the item away', (topic) => {
    const event = { topic, action: 'unpublish', id: item.id, at: RECEIVED_AT };
    expect(sent(topic, { id: item.id, siteId: item.siteId })).toMatchObject({ kind: 'publish', event });
  });

  test.each(['collection_item_created', 'collection_item_changed'])(
    'of %s publishes what was written live',
    (topic) => {
      expect(sent(topic, item)).toMatchObject({ kind: 'publish', event: { action: 'publish' } });
      expect(sent(topic, { id: item.id })).toMatchObject({ kind: 'publish' });
    },
  );

  test.each([
    ['a draft', { isDraft: true }],
    ['never published', { lastPublished: null }],
    ['changed since it was published', { lastUpdated: '2026-11-21T08:05:00.000Z' }],
  ])('of an item that is %s waits for its publish', (_what, change) => {
    for (const topic of ['collection_item_created', 'collection_item_changed']) {
      expect(sent(topic, { ...item, ...change })).toEqual({
        kind: 'filtered',
        topic,
        why: 'the item is not published yet',
      });
    }
  });

  test('of a page that was changed or deleted publishes, and of a new one waits for the site’s publish', () => {
    const page = { siteId: item.siteId, pageId: 'p1', pageTitle: 'Start', publishedPath: '/start' };
    const event = { id: 'p1', title: 'Start' };
    expect(sent('page_metadata_updated', page)).toMatchObject({ kind: 'publish', paths: ['/start'], event });
    expect(sent('page_deleted', page)).toMatchObject({ kind: 'publish', event: { ...event, action: 'unpublish' } });
    expect(sent('page_created', page)).toMatchObject({ kind: 'filtered', topic: 'page_created' });
  });

  test.each(['form_submission', 'comment_created', 'ecomm_new_order', 'ecomm_order_changed', 'user_account_added'])(
    'of %s is listed only',
    (topic) => {
      expect(sent(topic, {})).toEqual({ kind: 'filtered', topic, why: 'the trigger publishes nothing' });
    },
  );

  test.each([
    [null],
    [[]],
    ['x'],
    [{}],
    [{ triggerType: 7, payload: 'x' }],
    [{ triggerType: 'ecomm_inventory_changed' }],
  ])('that tells nothing we know publishes: %j', (body) => {
    expect(read(body)).toMatchObject({ kind: 'publish', event: { id: 'delivery-1', title: 'delivery-1' } });
  });

  test('has no address where its domain is none', () => {
    expect(sent('site_publish', { domains: ['a b"><script>'] })).toMatchObject({ event: { url: '' } });
  });

  test('is read whatever it holds', () => {
    const keys = ['triggerType', 'payload', 'items', 'id', 'fieldData', 'domains', 'publishedBy', 'lastPublished'];
    expectToReadAnything((body) => sent('site_publish', body), keys);
    expectToReadAnything((body) => sent('collection_item_changed', body), keys);
    expectToReadAnything(read, keys);
  });
});

test('a site can choose among Webflow’s collections and triggers', () => {
  const payload = { triggerType: 'collection_item_published', payload: item };
  expect(readerOf('webflow', { only: { contentType: item.collectionId } })(payload).kind).toBe('publish');
  expect(readerOf('webflow', { only: { contentType: 'another' } })(payload)).toMatchObject({ why: 'only.contentType' });
  expect(readerOf('webflow', { only: { topic: 'site_publish' } })(payload)).toMatchObject({ why: 'only.topic' });
});
