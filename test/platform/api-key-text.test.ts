import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { isApiKeyText, makeApiKey } from '../../platform/admin/api-key-text.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A secret scanner as the documentation describes it: its pattern, then the checksum. */
function scan(text: string): string[] {
  const docs = readFileSync('docs/operate/dashboard.md', 'utf8');
  const pattern = /^galley_\[.*$/m.exec(docs)?.[0] ?? 'no pattern';
  return (text.match(new RegExp(pattern, 'g')) ?? []).filter((key) => {
    const [secret, checksum] = [key.slice(7, 50), key.slice(50)];
    let rest = crc32(secret);
    const digits = Array.from({ length: 6 }, () => {
      const digit = BASE62[rest % 62] ?? '';
      rest = Math.floor(rest / 62);
      return digit;
    });
    return digits.reverse().join('') === checksum;
  });
}

describe('an API key', () => {
  it('is found by a secret scanner that has only the documentation', () => {
    for (let turn = 0; turn < 50; turn += 1) {
      const key = makeApiKey();
      expect(scan(`const key = "${key}";`)).toEqual([key]);
      expect(isApiKeyText(key)).toBe(true);
    }
  });

  it('is not mistaken for another text of its form', () => {
    const random = `galley_${randomBytes(32).toString('base64url')}000000`;
    const typo = makeApiKey().replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
    const unchecked = random.slice(0, -6);
    for (const wrong of [random, unchecked, typo, `${makeApiKey()}x`, 'galley_', 'galley_ä']) {
      expect(scan(wrong).filter((found) => found === wrong)).toEqual([]);
      expect(isApiKeyText(wrong)).toBe(false);
    }
  });
});
