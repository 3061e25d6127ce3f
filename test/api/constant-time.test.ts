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

beforeEach(() => {
  answers = 'truly';
  comparisons = [];
});

describe.each(schemes)('the signature of a $source delivery', (scheme) => {
  const { sites } = configWith({
    docs: { webhooks: { [scheme.source]: { secret: scheme.secrets, ...scheme.settings } } },
  });
  const found = configuredSources(sites.docs?.webhooks ?? {}).get(scheme.source);

  async function verify(change: (digest: string) => string = (digest) => digest): Promise<Verification> {
    if (found === undefined) throw new Error(`no source ${scheme.source}`);
    const signed = await scheme.sign({ secret: scheme.secrets[0], body: BODY, path: PATH, at: new Date() });
    const value = signed[scheme.signatureHeader] ?? '';
    const digest = /[\w+/-]{20,}/.test(value) ? /[\w+/-]{20,}/ : /\S+$/;
    const headers = { ...signed, [scheme.signatureHeader]: value.replace(digest, change) };
    const header = (name: string) => new Headers(headers).get(name) ?? undefined;
    comparisons = [];
    const request = { method: 'POST', path: PATH, header, body: Buffer.from(BODY) };
    return found.source.verify(request, found.secrets, new Date());
  }

  const other = (character: string | undefined) => (character === '0' ? '1' : '0');
  const wrongFirst = (digest: string) => `${other(digest[0])}${digest.slice(1)}`;
  const wrongLast = (digest: string) => `${digest.slice(0, -1)}${other(digest.at(-1))}`;

  test('is compared as often and over as many bytes, whether its first or its last character is wrong', async () => {
    expect(await verify()).toMatchObject({ ok: true });
    const whenRight = comparisons;
    expect(whenRight.length).toBeGreaterThanOrEqual(scheme.secrets.length);
    for (const { left, right } of whenRight) expect(left).toBe(right);
    for (const wrong of [wrongFirst, wrongLast]) {
      expect(await verify(wrong)).toEqual({ ok: false, reason: 'bad-signature' });
      expect(comparisons).toEqual(whenRight);
    }
  });

  test('is judged by that comparison alone', async () => {
    answers = 'always no';
    expect(await verify()).toEqual({ ok: false, reason: 'bad-signature' });
    answers = 'always yes';
    for (const wrong of [wrongFirst, wrongLast]) expect(await verify(wrong)).toMatchObject({ ok: true });
  });
});

test('every source that can be configured is held to this', () => {
  const { sites } = configWith({ docs: { webhooks: Object.fromEntries(schemes.map(settingsOf)) } });
  expect([...configuredSources(sites.docs?.webhooks ?? {}).keys()].sort()).toEqual(
    schemes.map(({ source }) => source).sort(),
  );
  const registered = readFileSync('api/sources/configured-source.ts', 'utf8').matchAll(/configured\('(\w+)'/g);
  expect([...registered].map(([, name]) => name).sort()).toEqual(schemes.map(({ source }) => source).sort());
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

function settingsOf({ source, secrets, settings }: (typeof schemes)[number]): [string, object] {
  return [source, { secret: secrets, ...settings }];
}
