import * as crypto from 'node:crypto';
import { jest } from '@jest/globals';
import type { Verification } from '../../api/webhooks/source.ts';

/** Checks the calls of `timingSafeEqual` instead of measuring time. */
let equality: 'real' | 'always true' | 'always false' = 'real';
let comparisons: { left: number; right: number }[] = [];

jest.unstable_mockModule('node:crypto', () => ({
  ...crypto,
  timingSafeEqual(left: NodeJS.ArrayBufferView, right: NodeJS.ArrayBufferView): boolean {
    comparisons.push({ left: left.byteLength, right: right.byteLength });
    return equality === 'real' ? crypto.timingSafeEqual(left, right) : equality === 'always true';
  },
}));
const { verifierOf } = await import('./sources/source-verifier.ts');
const { vendors } = await import('./sources/vendors.ts');

const BODY = JSON.stringify({ id: 'a', title: 'Grüße' });

type Change = (signature: string) => string;

const signing = vendors.flatMap(({ scheme, ...vendor }) => (scheme === undefined ? [] : [{ ...vendor, scheme }]));
const signedCases = signing.map(({ source, secrets, settings, scheme: { sign, signature } }) => ({
  source,
  secrets: secrets.slice(0, 2),
  settings,
  async deliver(change: Change) {
    const headers = await sign({ secret: secrets[0], body: BODY, path: '/', at: new Date() });
    const value = headers[signature] ?? '';
    const digest = /[\w+/-]{20,}/.test(value) ? /[\w+/-]{20,}/ : /\S+$/;
    return { headers: { ...headers, [signature]: value.replace(digest, change) }, body: BODY };
  },
}));
const prismic = {
  source: 'prismic',
  secrets: ['prism-a', 'prism-b'],
  settings: {},
  deliver: async (change: Change) => ({ headers: {}, body: JSON.stringify({ secret: change('prism-a') }) }),
};

const other = (character: string | undefined) => (character === '0' ? '1' : '0');
const WRONG: Change[] = [
  (signature) => `${other(signature[0])}${signature.slice(1)}`,
  (signature) => `${signature.slice(0, -1)}${other(signature.at(-1))}`,
];
const REJECTED = { ok: false, reason: 'bad-signature' };

describe.each([...signedCases, prismic])('the signature of a $source delivery', (each) => {
  const verifier = verifierOf(each.source, { secret: each.secrets, ...each.settings });

  async function verify(change: Change = (signature) => signature): Promise<Verification> {
    const { headers, body } = await each.deliver(change);
    comparisons = [];
    return verifier(headers, body);
  }

  beforeEach(() => {
    equality = 'real';
  });

  test('needs the same comparisons whether it is right or its first or last character is wrong', async () => {
    expect(await verify()).toMatchObject({ ok: true });
    const whenRight = comparisons;
    expect(whenRight.length).toBeGreaterThanOrEqual(each.secrets.length);
    for (const { left, right } of whenRight) expect(left).toBe(right);
    for (const change of WRONG) {
      expect(await verify(change)).toEqual(REJECTED);
      expect(comparisons).toEqual(whenRight);
    }
  });

  test('is accepted or rejected only by that comparison', async () => {
    equality = 'always false';
    expect(await verify()).toEqual(REJECTED);
    equality = 'always true';
    for (const change of WRONG) expect(await verify(change)).toMatchObject({ ok: true });
  });
});
