import { parseTimestampMs } from '../../client/timestamps.ts';
import fc from '../helpers/fast-check.ts';

const moments = fc.date({ min: new Date('1980-01-01'), max: new Date('2200-01-01'), noInvalidDate: true });

describe('a timestamp', () => {
  it('is read in any spelling', () => {
    fc.assert(
      fc.property(moments, fc.integer({ min: -14 * 60, max: 14 * 60 }), (moment, offsetMinutes) => {
        const ms = moment.getTime();
        const local = new Date(ms + offsetMinutes * 60_000).toISOString().slice(0, -1);
        const [hours, minutes] = [Math.floor(Math.abs(offsetMinutes) / 60), Math.abs(offsetMinutes) % 60];
        const two = (value: number): string => String(value).padStart(2, '0');
        const zone = `${offsetMinutes < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`;
        expect(parseTimestampMs(`${local}${zone}`)).toBe(ms);
        expect(parseTimestampMs(`${local.replace('T', ' ')}${zone.replace(':', '')}`)).toBe(ms);
        expect(parseTimestampMs(moment.toISOString().toLowerCase())).toBe(ms);
        expect(parseTimestampMs(moment.toUTCString())).toBe(Math.floor(ms / 1000) * 1000);
        expect(parseTimestampMs(Math.floor(ms / 1000))).toBe(Math.floor(ms / 1000) * 1000);
        expect(parseTimestampMs(ms)).toBe(ms);
      }),
    );
  });

  it.each([
    ['lower case with nanoseconds', '2026-11-21t09:00:00.999999999z'],
    ['no zone', '2026-11-21T09:00:00.999'],
    ['seconds as text', String(Date.UTC(2026, 10, 21, 9, 0, 0, 999) / 1000)],
  ])('is read with %s', (_, text) => {
    expect(parseTimestampMs(text)).toBe(Date.UTC(2026, 10, 21, 9, 0, 0, 999));
  });

  it('with a leap second is the second before', () => {
    expect(parseTimestampMs('2016-12-31T23:59:60Z')).toBe(Date.UTC(2016, 11, 31, 23, 59, 59));
  });

  it.each([undefined, null, '', 'soon', {}, [], Number.NaN, '2026-13-45T00:00:00Z'])('%p is none', (value) => {
    expect(parseTimestampMs(value)).toBeUndefined();
  });
});
