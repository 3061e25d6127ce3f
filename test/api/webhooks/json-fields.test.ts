import { field, readInstant, readText } from '../../../api/webhooks/json-fields.ts';

const nothing = (count: number): undefined[] => Array(count).fill(undefined);

describe('a field of a body', () => {
  test('is an own field only', () => {
    expect(field({}, 'constructor', 'name')).toBeUndefined();
    expect(field(JSON.parse('{"__proto__": {"a": 1}}'), '__proto__', 'a')).toBe(1);
    expect(field('text', 'length')).toBeUndefined();
  });

  test('is a trimmed text of up to 500 characters if it is a text or number', () => {
    expect([' a ', 7, '', '  ', null, {}, true].map(readText)).toEqual(['a', '7', ...nothing(5)]);
    expect(readText('x'.repeat(9_999))).toHaveLength(500);
  });

  test('is an instant in seconds, in milliseconds or as text', () => {
    const instant = '2026-11-21T08:00:00.000Z';
    const ms = Date.parse(instant);
    expect([ms, ms / 1000, instant, '2026-11-21T09:00:00+01:00'].map(readInstant)).toEqual(Array(4).fill(instant));
    expect(['yesterday', '', -1, Number.NaN, 1e300, {}, null].map(readInstant)).toEqual(nothing(7));
  });

  test('is an instant in UTC if it has no offset, in any time zone of the machine', () => {
    const written = ['2026-11-21 09:00:00', '2026-11-21T09:00:00', '2026-11-21T09:00', ' 2026-11-21 09:00:00.000 '];
    expect(written.map(readInstant)).toEqual(Array(4).fill('2026-11-21T09:00:00.000Z'));
    expect(['2026-11-21', '2026-11-21T09:00:00-05:00'].map(readInstant)).toEqual([
      '2026-11-21T00:00:00.000Z',
      '2026-11-21T14:00:00.000Z',
    ]);
  });
});
