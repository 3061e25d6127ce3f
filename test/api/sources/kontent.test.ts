import { expectToReadAnything, readerOf } from './source-reader.ts';

const read = readerOf('kontent');

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
const asset = {
  data: { system: { id: 'a1', name: 'Logo', codename: 'logo' } },
  message: { object_type: 'asset', action: 'changed', delivery_slot: 'published' },
};

describe('a notification of Kontent.ai', () => {
  test.each([
    ['in a list', { notifications: [notification()] }],
    ['by itself', notification()],
  ])('%s is read with a link to its editor', (_, body) => {
    expect(read(body)).toEqual({
      kind: 'publish',
      topics: ['content_item.published'],
      contentType: ['article'],
      event: {
        source: 'kontent',
        topic: 'content_item.published',
        action: 'publish',
        id: system.id,
        title: 'Circuit boards',
        url: `https://app.kontent.ai/goto/edit-item/project/${environment}/variant-codename/en-US/item/${system.id}`,
        author: '',
        at: '2026-11-21T07:53:29.499Z',
      },
    });
  });

  test.each([
    [notification({ action: 'unpublished' }), 'content_item.unpublished', 'unpublish'],
    [notification({ action: 'metadata_changed' }), 'content_item.metadata_changed', 'publish'],
    [asset, 'asset.changed', 'publish'],
    [{ ...asset, message: { ...asset.message, action: 'deleted' } }, 'asset.deleted', 'unpublish'],
    [notification({ object_type: 'taxonomy', action: 'term_changed' }), 'taxonomy.term_changed', 'publish'],
    [notification({ object_type: 'language', action: 'created' }), 'language.created', 'publish'],
    [notification({ delivery_slot: 'something new' }), 'content_item.published', 'publish'],
    [notification({ delivery_slot: undefined }), 'content_item.published', 'publish'],
  ])('%j publishes', (body, topic, action) => {
    expect(read({ notifications: [body] })).toMatchObject({ kind: 'publish', event: { topic, action } });
  });

  test('of a change in the preview is filtered, and so is a delivery without any', () => {
    const preview = notification({ action: 'workflow_step_changed', delivery_slot: 'preview' });
    const topic = 'content_item.workflow_step_changed';
    expect(read({ notifications: [preview] })).toEqual({ kind: 'filtered', topic, why: 'a change in the preview' });
    const none = { kind: 'filtered', topic: '', why: 'the delivery holds no notification' };
    expect(read({ notifications: [] })).toEqual(none);
  });

  test('among several: the last that adds something is the event, and none is lost for the others', () => {
    const away = notification({ action: 'unpublished' }, { name: 'Away' });
    const preview = notification({ delivery_slot: 'preview' });
    const body = { notifications: [notification(), notification({}, { name: 'Last', type: 'page' }), away, preview] };
    expect(read(body)).toMatchObject({ event: { title: 'Last', action: 'publish' }, contentType: ['article', 'page'] });
    expect(read({ notifications: [preview, away] })).toMatchObject({ event: { title: 'Away', action: 'unpublish' } });
    const only = (choice: object) => readerOf('kontent', { only: choice })(body);
    expect(only({ contentType: 'article' }).kind).toBe('publish');
    expect(only({ topic: '*.unpublished' }).kind).toBe('publish');
    expect(only({ contentType: 'author' })).toMatchObject({ why: 'only.contentType' });
    expect(only({ topic: 'asset.*' })).toMatchObject({ why: 'only.topic' });
  });
});

test('a delivery of Kontent.ai is read whatever it holds', () => {
  expectToReadAnything(read, [
    'notifications',
    'data',
    'system',
    'items',
    'message',
    'type',
    'action',
    'id',
    'name',
    'language',
  ]);
});
