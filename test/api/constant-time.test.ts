import * as crypto from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import type { Verification } from '../../api/sources/source.ts';

/**
 * A clock can't show on a busy machine that a comparison takes as long for any wrong signature. What can be shown: each
 * source asks `timingSafeEqual`, asks it the same whatever is wrong, and nothing else decides.
 */
let answers: 'truly' | 'always yes' | 'always no' = 'truly';
let comparisons: { left: number; right: number }[] = [];

jest.unstable_mockModule('node:crypto', () => ({
  ...crypto,
  timingSafeEqual(left: NodeJS.ArrayBufferView, right: NodeJS.ArrayBufferView): boolean {
    comparisons.push({ left: left.byteLength, right: right.byteLength });
    return answers === 'truly' ? crypto.timingSafeEqual(left, right) : answers === 'always yes';
  },
}));
const { configuredSources } = await import('../../api/sources/configured-source.ts');
const { configWith } = await import('./running-api.ts');
const { schemes } = await import('./schemes.ts');

const BODY = JSON.stringify({ id: 'a', title: 'Grüße' });
const PATH = '/webhooks/docs/source';

/** A signature as it should be, or with one of its characters changed. */
type Change = (signature: string) => string;
type Case = {
  source: string;
  secrets: string[];
  settings?: object | undefined;
  deliver: (change: Change) => Promise<{ headers: Record<string, string>; body: string }>;
};

const signedCases: Case[] = schemes.map(({ source, secrets, settings, sign, signatureHeader }) => ({
  source,
  secrets,
  settings,
  async deliver(change) {
    const headers = await sign({ secret: secrets[0], body: BODY, path: PATH, at: new Date() });
    const value = headers[signatureHeader] ?? '';
    const signature = /[\w+/-]{20,}/.test(value) ? /[\w+/-]{20,}/ : /\S+$/;
    return { headers: { ...headers, [signatureHeader]: value.replace(signature, change) }, body: BODY };
  },
}));
/** Prismic's secret stands in the body. */
const prismic: Case = {
  source: 'prismic',
  secrets: ['prism-a', 'prism-b'],
  deliver: async (change) => ({ headers: {}, body: JSON.stringify({ type: 'api-update', secret: change('prism-a') }) }),
};
const cases = [...signedCases, prismic];

const other = (character: string | undefined) => (character === '0' ? '1' : '0');
const WRONG: Change[] = [
  (signature) => `${other(signature[0])}${signature.slice(1)}`,
  (signature) => `${signature.slice(0, -1)}${other(signature.at(-1))}`,
];
const REFUSED = { ok: false, reason: 'bad-signature' };

beforeEach(() => {
  answers = 'truly';
});

describe.each(cases)('the signature of a $source delivery', ({ source, secrets, settings, deliver }) => {
  const { sites } = configWith({ docs: { webhooks: { [source]: { secret: secrets, ...settings } } } });
  const found = configuredSources(sites.docs?.webhooks ?? {}).get(source);

  async function verify(change: Change = (signature) => signature): Promise<Verification> {
    if (found === undefined) throw new Error(`no source ${source}`);
    const { headers, body } = await deliver(change);
    const header = (name: string) => new Headers(headers).get(name) ?? undefined;
    comparisons = [];
    return found.source.verify({ method: 'POST', path: PATH, header, body: Buffer.from(body) }, secrets, new Date());
  }

  test('is compared as often and over as many bytes, whether its first or its last character is wrong', async () => {
    expect(await verify()).toMatchObject({ ok: true });
    const whenRight = comparisons;
    expect(whenRight.length).toBeGreaterThanOrEqual(secrets.length);
    for (const { left, right } of whenRight) expect(left).toBe(right);
    for (const change of WRONG) {
      expect(await verify(change)).toEqual(REFUSED);
      expect(comparisons).toEqual(whenRight);
    }
  });

  test('is judged by that comparison alone', async () => {
    answers = 'always no';
    expect(await verify()).toEqual(REFUSED);
    answers = 'always yes';
    for (const change of WRONG) expect(await verify(change)).toMatchObject({ ok: true });
  });
});

test('every source is held to this', () => {
  const registered = readFileSync('api/sources/configured-source.ts', 'utf8').matchAll(/configured\('(\w+)'/g);
  expect([...registered].map(([, name]) => name).sort()).toEqual(cases.map(({ source }) => source).sort());
});

test('no source reckons or compares signatures by itself', () => {
  const files = readdirSync('api/sources', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const own = files.filter((name) =>
    /timingSafeEqual|createHmac/.test(readFileSync(join('api/sources', name), 'utf8')),
  );
  expect(own).toEqual(['signature.ts']);
});
