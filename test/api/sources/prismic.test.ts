import { prismicUpdate } from '../signing/prismic.ts';
import { expectToReadAnything, readerOf } from './source-reader.ts';

const read = readerOf('prismic');

const update = (change: object = {}) =>
  prismicUpdate({ documents: ['X5w-mxIAACAAZJ2H', 'X5w-mxIAACAAZJ2J'], secret: 'hush-hush', ...change });

const release = { id: 'r1', ref: 'X6-ref', label: 'Spring', documents: ['X5w-mxIAACAAZJ2H'] };

describe('a Prismic delivery', () => {
  test('of published pages names the first, and keeps the secret to itself', () => {
    const reading = read(update());
    expect(reading).toEqual({
      kind: 'publish',
      event: {
        source: 'prismic',
        topic: 'api-update',
        action: 'publish',
        id: 'X5w-mxIAACAAZJ2H',
        title: 'X5w-mxIAACAAZJ2H',
        url: 'https://handbook.prismic.io',
        author: '',
        at: '2026-11-21T08:00:00.000Z',
      },
    });
    expect(JSON.stringify(reading)).not.toContain('hush');
  });

  test('of a release that was published publishes', () => {
    expect(read(update({ releases: { deletion: [release] } }))).toMatchObject({ kind: 'publish' });
  });

  test.each([
    ['releases', { releases: { addition: [release] } }],
    ['releases', { releases: { update: [release] } }],
    ['tags', { tags: { addition: [{ id: 'new' }] }, documents: [] }],
    ['masks', { masks: { update: [{ id: 'page', label: 'Page' }] }, documents: [] }],
  ])('that changes only %s is listed', (what, change) => {
    const reading = read(update({ masterRef: undefined, ...change }));
    expect(reading).toEqual({ kind: 'filtered', topic: 'api-update', why: `only these changed: ${what}` });
  });

  test('that a person asked for as a test is listed', () => {
    expect(read({ type: 'test-trigger', domain: 'handbook', apiUrl: 'x', secret: 'hush' })).toMatchObject({
      kind: 'filtered',
      topic: 'test-trigger',
    });
  });

  test.each([[{}], [null], [[]], ['x'], [update({ masterRef: undefined })], [{ type: 'new-type', secret: 'hush' }]])(
    'that says neither publishes: %j',
    (body) => {
      expect(read(body)).toMatchObject({ kind: 'publish' });
    },
  );

  test('is read whatever it holds', () => {
    expectToReadAnything(read, ['type', 'masterRef', 'releases', 'tags', 'masks', 'documents', 'domain', 'secret']);
  });
});
