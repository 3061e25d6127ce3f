import fc from 'fast-check';
import { configuredSources } from '../../../api/sources/configured-source.ts';
import { field, readInstant, readText } from '../../../api/sources/json-fields.ts';
import type { Reading } from '../../../api/sources/source.ts';
import { publishEvent } from '../../../contract/publish-event.ts';
import { configWith } from '../running-api.ts';

const sources = configuredSources(
  configWith({
    docs: {
      webhooks: {
        standard: { secret: 'whsec_c2VjcmV0' },
        github: { secret: 'x' },
        contentful: { secret: 'x' },
        token: { secret: 'x' },
        hmac: { secret: 'x', header: 'X-Signature' },
      },
    },
  }).sites.docs?.webhooks ?? {},
);

const delivery = { id: 'delivery-1', receivedAt: new Date('2026-11-21T08:00:00.000Z') };

function read(source: string, body: unknown, headers: Record<string, string> = {}): Reading {
  const found = sources.get(source);
  if (found === undefined) throw new Error(`no source ${source}`);
  const request = { method: 'POST', path: '/', header: (name: string) => headers[name], body: Buffer.alloc(0) };
  return found.source.read(request, body, delivery);
}

const contentful = (body: unknown, topic = 'Entry.publish') =>
  read('contentful', body, { 'x-contentful-topic': `ContentManagement.${topic}` });

describe('a Contentful entry', () => {
  const sys = {
    id: 'entry1',
    type: 'Entry',
    space: { sys: { id: 'space1' } },
    environment: { sys: { id: 'staging' } },
    publishedAt: '2026-11-21T07:59:58.123Z',
    updatedAt: '2026-11-20T00:00:00.000Z',
    publishedBy: { sys: { id: 'user1' } },
  };

  test('is read with its title in the first locale and a link into the web app', () => {
    const fields = { slug: { 'en-US': 'hello' }, title: { 'en-US': 'Hello', de: 'Hallo' } };
    expect(contentful({ sys, fields })).toEqual({
      kind: 'publish',
      event: {
        source: 'contentful',
        topic: 'ContentManagement.Entry.publish',
        action: 'publish',
        id: 'entry1',
        title: 'Hello',
        url: 'https://app.contentful.com/spaces/space1/environments/staging/entries/entry1',
        author: 'user1',
        at: '2026-11-21T07:59:58.123Z',
      },
    });
  });

  test.each([
    [{ name: { de: 'Name' }, slug: { de: 'slug' } }, 'Name'],
    [{ slug: { de: 'slug' } }, 'slug'],
    [{ title: { de: '  ' }, name: { de: 'Name' } }, 'Name'],
    [{ title: 'flat' }, 'flat'],
    [{ other: { de: 'x' } }, 'entry1'],
    [undefined, 'entry1'],
  ])('with the fields %j has the title %s', (fields, title) => {
    expect(contentful({ sys, fields })).toMatchObject({ event: { title } });
  });

  test('that was unpublished or deleted is read from its tombstone', () => {
    const tombstone = {
      sys: { ...sys, type: 'DeletedEntry', deletedAt: '2026-11-21T07:00:00Z', publishedBy: undefined },
    };
    for (const topic of ['Entry.unpublish', 'Entry.delete']) {
      const event = { action: 'unpublish', title: 'entry1', author: '', at: '2026-11-21T07:00:00.000Z' };
      expect(contentful(tombstone, topic)).toMatchObject({ kind: 'publish', event });
    }
  });

  test.each(['Entry.save', 'Entry.auto_save', 'Entry.archive', 'Asset.create', 'Task.create'])(
    'with the topic %s is filtered',
    (topic) => {
      const why = 'the topic publishes nothing';
      expect(contentful({ sys }, topic)).toEqual({ kind: 'filtered', topic: `ContentManagement.${topic}`, why });
    },
  );

  test.each([
    ['Entry.publish', 'publish'],
    ['Asset.publish', 'publish'],
    ['ContentType.publish', 'publish'],
    ['Entry.unpublish', 'unpublish'],
    ['Entry.delete', 'unpublish'],
  ])('with the topic %s is a publish event of the action %s', (topic, action) => {
    expect(contentful({ sys }, topic)).toMatchObject({ kind: 'publish', event: { action } });
  });

  test('whose payload was customised to something else still publishes', () => {
    for (const body of [{}, [], null, 'x', 7, { sys: 7, fields: [] }, { sys: { id: { a: 1 } } }]) {
      expect(contentful(body)).toMatchObject({ kind: 'publish', event: { id: 'delivery-1', title: 'delivery-1' } });
    }
  });
});

describe('a push', () => {
  const push = (body: unknown) => read('github', body, { 'x-github-event': 'push' });
  const headCommit = {
    id: 'f00',
    message: 'Fix the start page\n\nIt was wrong.',
    url: 'https://github.com/o/r/commit/f00',
    timestamp: '2026-11-21T09:00:00+01:00',
  };

  test('of GitHub is read by its newest commit', () => {
    expect(push({ ref: 'refs/heads/main', after: 'f00', head_commit: headCommit, pusher: { name: 'ada' } })).toEqual({
      kind: 'publish',
      event: {
        source: 'github',
        topic: 'push',
        action: 'publish',
        id: 'f00',
        title: 'Fix the start page',
        url: 'https://github.com/o/r/commit/f00',
        author: 'ada',
        at: '2026-11-21T08:00:00.000Z',
      },
    });
  });

  test('of Gitea is read by its own names', () => {
    const body = { ref: 'refs/heads/main', after: 'f00', compare_url: 'https://git/compare', pusher: { login: 'bob' } };
    expect(push(body)).toMatchObject({ event: { id: 'f00', title: 'f00', url: 'https://git/compare', author: 'bob' } });
  });

  test('with nothing but its ref publishes', () => {
    expect(push({ ref: 'refs/heads/main', head_commit: null, pusher: 'x', deleted: 'no' })).toMatchObject({
      kind: 'publish',
      event: { id: 'delivery-1' },
    });
  });
});

describe('a delivery whose shape is not known', () => {
  test.each([
    [
      'Standard Webhooks',
      {
        type: 'page.published',
        timestamp: '2026-11-21T07:00:00Z',
        data: { id: 'p1', title: 'Hello', url: 'https://a.b' },
      },
      { topic: 'page.published', id: 'p1', title: 'Hello', url: 'https://a.b', at: '2026-11-21T07:00:00.000Z' },
    ],
    [
      'Strapi',
      { event: 'entry.unpublish', createdAt: 'x', entry: { id: 7, title: 'Hallo', updatedBy: { username: 'ada' } } },
      { topic: 'entry.unpublish', action: 'unpublish', id: '7', title: 'Hallo', author: 'ada' },
    ],
    [
      'Directus',
      { event: 'articles.items.update', keys: ['a1'], payload: { title: 'Neu' }, accountability: { user: 'u1' } },
      { topic: 'articles.items.update', id: 'a1', title: 'Neu', author: 'u1' },
    ],
    [
      'Ghost',
      { post: { current: { id: 'g1', title: 'Now', url: 'https://g/now' }, previous: { title: 'Then' } } },
      { id: 'g1', title: 'Now', url: 'https://g/now' },
    ],
    [
      'WordPress',
      { id: 12, title: { rendered: 'Hello' }, link: 'https://wp/hello', author: 3, date: '2026-11-21T07:00:00Z' },
      { id: '12', title: 'Hello', url: 'https://wp/hello', author: '3', at: '2026-11-21T07:00:00.000Z' },
    ],
    ['a bare id', { id: 'x' }, { topic: '', action: 'publish', id: 'x', title: 'x', url: '', author: '' }],
    ['nothing at all', null, { id: 'delivery-1', title: 'delivery-1', at: '2026-11-21T08:00:00.000Z' }],
    ['a link that is none', { id: 'x', url: 'javascript:alert(1)' }, { url: '' }],
  ])('is read as %s writes it', (_, body, event) => {
    expect(read('token', body)).toMatchObject({ kind: 'publish', event: { source: 'token', ...event } });
  });

  test('is read, whatever it holds, to an event that is valid and small', () => {
    const anything = fc.jsonValue({ maxDepth: 5 });
    const keys = fc.constantFrom(
      'id',
      'title',
      'url',
      'type',
      'event',
      'data',
      'entry',
      'sys',
      'fields',
      '__proto__',
      'x',
    );
    const shaped = fc.dictionary(
      keys,
      fc.oneof(anything, fc.dictionary(keys, anything), fc.string({ maxLength: 2_000 })),
    );
    fc.assert(
      fc.property(fc.oneof(anything, shaped), (body) => {
        for (const reading of [read('standard', body), read('token', body), read('hmac', body), contentful(body)]) {
          const event = reading.kind === 'publish' ? publishEvent.parse(reading.event) : undefined;
          expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThan(16_000);
        }
      }),
    );
  });
});

describe('fields', () => {
  test('are own fields only', () => {
    expect(field({}, 'constructor', 'name')).toBeUndefined();
    expect(field(JSON.parse('{"__proto__": {"a": 1}}'), '__proto__', 'a')).toBe(1);
    expect(field('text', 'length')).toBeUndefined();
  });

  test('are text where they hold any', () => {
    expect([' a ', 7, '', '  ', null, {}, true].map(readText)).toEqual(['a', '7', ...Array(5).fill(undefined)]);
    expect(readText('x'.repeat(9_999))).toHaveLength(500);
  });

  test('are instants in seconds, in milliseconds and as text, and nothing else is', () => {
    const instant = '2026-11-21T08:00:00.000Z';
    const ms = Date.parse(instant);
    expect([ms, ms / 1000, instant, '2026-11-21T09:00:00+01:00'].map(readInstant)).toEqual(Array(4).fill(instant));
    expect(['yesterday', '', -1, Number.NaN, 1e300, {}, null].map(readInstant)).toEqual(Array(7).fill(undefined));
  });

  test('are instants of UTC where they name no offset, in whatever zone this machine is', () => {
    const written = ['2026-11-21 09:00:00', '2026-11-21T09:00:00', '2026-11-21T09:00', ' 2026-11-21 09:00:00.000 '];
    expect(written.map(readInstant)).toEqual(Array(4).fill('2026-11-21T09:00:00.000Z'));
    expect(['2026-11-21', '2026-11-21T09:00:00-05:00'].map(readInstant)).toEqual([
      '2026-11-21T00:00:00.000Z',
      '2026-11-21T14:00:00.000Z',
    ]);
  });
});
