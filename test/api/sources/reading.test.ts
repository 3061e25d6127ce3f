import { contentful } from './cases/contentful.ts';
import { directus } from './cases/directus.ts';
import { ghost } from './cases/ghost.ts';
import { hygraph } from './cases/hygraph.ts';
import { json } from './cases/json.ts';
import { kontent } from './cases/kontent.ts';
import { payload } from './cases/payload.ts';
import { prismic } from './cases/prismic.ts';
import { sanity } from './cases/sanity.ts';
import { storyblok } from './cases/storyblok.ts';
import { strapi } from './cases/strapi.ts';
import { webflow } from './cases/webflow.ts';
import { woocommerce } from './cases/woocommerce.ts';
import { wordpress } from './cases/wordpress.ts';
import { expectToReadAnything, readerOf } from './source-reader.ts';

/** What each source reads from its deliveries. GitHub's are in github.test.ts. */
const ALL = [
  ...[contentful, directus, ghost, hygraph, kontent, payload, prismic],
  ...[sanity, storyblok, strapi, webflow, woocommerce, wordpress, ...json],
];

describe.each(ALL)('a $source delivery', (cases) => {
  const { source, settings, publishes, filtered, unknown, keys, keyHeaders, keyWrappers } = cases;
  const read = readerOf(source, settings);

  test('is read to an event', () => {
    const [body, { event, ...rest }, headers] = cases.example;
    const whole = { source, action: 'publish', url: '', author: '', ...event };
    expect(read(body, headers)).toEqual({ kind: 'publish', ...rest, event: whole });
  });

  // Rest parameters: to a function that has a parameter more than a row, jest gives its callback `done`.
  test.each(publishes)('publishes: %s', (...[_what, body, expected, headers]) => {
    const reading = { contentType: undefined, paths: undefined, ...read(body, headers) };
    expect(reading).toMatchObject({ kind: 'publish', ...expected });
  });

  if (filtered.length > 0) {
    test.each(filtered)('is filtered: %s', (...[_what, body, topic, why, headers]) => {
      expect(read(body, headers)).toEqual({ kind: 'filtered', topic, why });
    });
  }

  if (unknown !== undefined) {
    test('that says nothing known publishes', () => {
      for (const body of unknown.bodies) {
        const event = { id: 'delivery-1', title: expect.any(String), url: '' };
        expect(read(body, unknown.headers)).toMatchObject({ kind: 'publish', event });
      }
    });
  }

  test('is read whatever it holds', () => {
    expectToReadAnything(read, keys, keyHeaders);
    for (const wrap of keyWrappers ?? []) expectToReadAnything((body) => read(wrap(body)), keys);
  });
});
