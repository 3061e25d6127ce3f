import { cutText } from '../../contract/cut-text.ts';
import fc, { anyCharacter } from '../helpers/fast-check.ts';

const text = fc.string({ unit: anyCharacter, maxLength: 40 });
const maxLength = fc.nat({ max: 50 });

/** Well-formed texts come back from UTF-8 as they went. */
const isWellFormed = (candidate: string): boolean => Buffer.from(candidate, 'utf8').toString('utf8') === candidate;

describe('a text that is cut', () => {
  it('is a beginning of it, never too long, and never ends in half a character', () => {
    fc.assert(
      fc.property(text, maxLength, (whole, limit) => {
        const cut = cutText(whole, limit);
        expect(whole.startsWith(cut)).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(limit);
        expect(isWellFormed(cut)).toBe(true);
      }),
    );
  });

  it('loses no more than it has to', () => {
    fc.assert(
      fc.property(text, maxLength, (whole, limit) => {
        const cut = cutText(whole, limit);
        const [next = ''] = whole.slice(cut.length);
        expect(cut === whole || cut.length + next.length > limit).toBe(true);
      }),
    );
  });

  it.each([
    ['a👋b', 1, 'a'],
    ['a👋b', 2, 'a'],
    ['a👋b', 3, 'a👋'],
    ['a👋b', 4, 'a👋b'],
    ['👋', 0, ''],
  ])('%s at %i is "%s"', (whole, limit, expected) => {
    expect(cutText(whole, limit)).toBe(expected);
  });
});
