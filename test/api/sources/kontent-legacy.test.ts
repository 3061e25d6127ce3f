import { signKontent, signLegacyKontent } from '../signing/kontent.ts';
import { readerOf } from './source-reader.ts';
import { verifierOf } from './source-verifier.ts';

const read = readerOf('kontent');

describe('a legacy notification of Kontent.ai', () => {
  const item = { id: 'f0e9e9fa', codename: 'christian_bale', collection: 'default', language: 'en', type: 'actor' };
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

  test('is read by its first item', () => {
    expect(read(legacy())).toMatchObject({
      kind: 'publish',
      contentType: ['actor'],
      event: {
        topic: 'content_item_variant.publish',
        action: 'publish',
        id: 'f0e9e9fa',
        title: 'christian_bale',
        url: 'https://app.kontent.ai/goto/edit-item/project/b259760f/variant-codename/en/item/f0e9e9fa',
        at: '2026-11-21T08:05:07.404Z',
      },
    });
  });

  test.each([
    ['publish', 'publish'],
    ['upsert', 'publish'],
    ['restore', 'publish'],
    ['unpublish', 'unpublish'],
    ['archive', 'unpublish'],
  ])('with the operation %s is read as %s', (operation, action) => {
    expect(read(legacy({ operation }))).toMatchObject({ kind: 'publish', event: { action } });
  });

  test('of a taxonomy publishes', () => {
    const data = { items: [], taxonomies: [{ id: 't1', codename: 'topics' }] };
    expect(read(legacy({ type: 'taxonomy', operation: 'upsert' }, data))).toMatchObject({ event: { title: 'topics' } });
  });

  test.each([
    ['delivery_preview', 'a change in the preview'],
    ['content_management', 'a step in the management API, no publish'],
  ])('of %s is filtered', (api_name, why) => {
    expect(read(legacy({ api_name }))).toMatchObject({ kind: 'filtered', why });
  });

  test('has its signature in the older header, which the newer one overrules', async () => {
    const body = JSON.stringify(legacy());
    const input = { secret: 's', body, path: '/', at: new Date() };
    const verify = verifierOf('kontent', { secret: 's' });
    expect(await verify(signLegacyKontent(input), body)).toEqual({ ok: true, vendorId: null });
    const wrong = { ...signLegacyKontent(input), ...signKontent({ ...input, secret: 'other' }) };
    expect(await verify(wrong, body)).toEqual({ ok: false, reason: 'bad-signature' });
  });
});
