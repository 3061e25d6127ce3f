import { createSecretMask, maskSecrets } from '../../../../platform/activities/agent/mask-secrets.ts';
import fc from '../../../helpers/fast-check.ts';

/** Masks a text that arrives in pieces of these lengths. */
function inPieces(text: string, secrets: readonly string[], lengths: readonly number[]): string {
  const mask = createSecretMask(secrets);
  const bytes = Buffer.from(text);
  const masked: Buffer[] = [];
  let from = 0;
  for (const length of lengths) {
    masked.push(mask.push(bytes.subarray(from, from + length)));
    from += length;
  }
  return Buffer.concat([...masked, mask.push(bytes.subarray(from)), mask.end()]).toString();
}

describe('masking secrets', () => {
  it.each([
    ['the token is sesame!', ['sesame'], 'the token is ***!'],
    ['sesamesesame', ['sesame'], '******'],
    ['aabaabaa', ['aabaa'], '***baa'],
    ['longer secrets first', ['longer', 'longer secrets'], '*** first'],
    ['https://h/?t=a%20b%2Fc', ['a b/c'], 'https://h/?t=***'],
    ['ünïcode-geheim and \u{1f511}key', ['geheim', '\u{1f511}key'], 'ünïcode-*** and ***'],
    ['(.*)+[x] stays, $&^~ too', ['(.*)+', '$&^~'], '***[x] stays, *** too'],
    ['a short word stays', ['a', 'the', ''], 'a short word stays'],
    ['-----BEGIN KEY-----\nAAAABBBB\nCCCC', ['-----BEGIN KEY-----\nAAAABBBB\n'], '***\n***\nCCCC'],
  ])('%j', (text, secrets, masked) => {
    expect(maskSecrets(text, secrets)).toBe(masked);
    const each = Array.from({ length: Buffer.byteLength(text) }, () => 1);
    expect(inPieces(text, secrets, each)).toBe(masked);
  });

  it('masks every secret, however the text is split into pieces', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 0, maxLength: 60 });
    const secret = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 4, maxLength: 9 });
    fc.assert(
      fc.property(letters, fc.array(secret, { maxLength: 4 }), fc.array(fc.nat(7)), (text, secrets, lengths) => {
        const masked = inPieces(text, secrets, lengths);
        expect(masked).toBe(maskSecrets(text, secrets));
        expect(secrets.filter((each) => masked.includes(each))).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not change bytes that are not text', () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    const mask = createSecretMask(['sesame']);
    expect(Buffer.concat([mask.push(bytes), mask.end()])).toEqual(bytes);
  });
});
