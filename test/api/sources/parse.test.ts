import { expectToParseAnything, parserOf } from './source-parser.ts';
import { vendors } from './vendors.ts';

const ALL = vendors.flatMap(({ source, settings, cases }) =>
  cases === undefined ? [] : [{ source, settings, cases }],
);

test('every vendor except GitHub, which has a separate test, has cases', () => {
  expect(vendors.length - ALL.length).toBe(1);
});

describe.each(ALL)('a $source delivery', ({ source, settings, cases }) => {
  const { publishes, filtered, unknown, keys, keyHeaders, keyWrappers } = cases;
  const parse = parserOf(source, settings);

  test('is parsed to an event', () => {
    const [body, { event, ...rest }, headers] = cases.example;
    const whole = { source, action: 'publish', url: '', author: '', ...event };
    expect(parse(body, headers)).toEqual({ kind: 'publish', ...rest, event: whole });
  });

  // Rest parameters, because jest passes `done` to a function with more parameters than the row has values.
  test.each(publishes)('publishes: %s', (...[_what, body, expected, headers]) => {
    const parsed = { contentType: undefined, paths: undefined, ...parse(body, headers) };
    expect(parsed).toMatchObject({ kind: 'publish', ...expected });
  });

  if (filtered.length > 0) {
    test.each(filtered)('is filtered: %s', (...[_what, body, topic, why, headers]) => {
      expect(parse(body, headers)).toEqual({ kind: 'filtered', topic, why });
    });
  }

  if (unknown !== undefined) {
    test('without any known field publishes', () => {
      for (const body of unknown.bodies) {
        const event = { id: 'delivery-1', title: expect.any(String), url: '' };
        expect(parse(body, unknown.headers)).toMatchObject({ kind: 'publish', event });
      }
    });
  }

  test('is parsed with any content', () => {
    expectToParseAnything(parse, keys, keyHeaders);
    for (const wrap of keyWrappers ?? []) expectToParseAnything((body) => parse(wrap(body)), keys);
  });
});
