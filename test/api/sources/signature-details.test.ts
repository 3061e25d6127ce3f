import { generateKeyPairSync, sign } from 'node:crypto';
import { generateWebhookSignature, verifyWebhookSignature } from '@hygraph/utils';
import { verifierOf } from './source-verifier.ts';
import { signGhost, signOldGhost } from './vendors/ghost.ts';
import { signEscapedHygraph, signHygraph } from './vendors/hygraph.ts';
import { signKontent, signLegacyKontent } from './vendors/kontent.ts';
import { signSanity } from './vendors/sanity.ts';
import { signStandard } from './vendors/standard.ts';
import { signWoocommerce } from './vendors/woocommerce.ts';

const AT = new Date('2026-11-21T08:00:00.000Z');
const ACCEPTED = { ok: true, vendorId: null };
const BAD_SIGNATURE = { ok: false, reason: 'bad-signature' };
const STALE = { ok: false, reason: 'stale' };

const inputOf = (body: string) => ({ secret: 's', body, path: '/', at: AT });
const later = (ms: number) => new Date(AT.getTime() + ms);

describe('a Ghost signature', () => {
  const body = JSON.stringify({ post: { current: { id: 'g1', status: 'published' }, previous: { status: 'draft' } } });
  const input = inputOf(body);
  const verify = verifierOf('ghost', { secret: ['t', 's'] });
  const lenient = verifierOf('ghost', { secret: ['t', 's'], unsignedTime: true });

  test('must cover the time unless the site allows old releases, which left it out', async () => {
    expect(await verify(signOldGhost(input), body, AT)).toEqual(BAD_SIGNATURE);
    expect(await lenient(signOldGhost(input), body, AT)).toEqual(ACCEPTED);
    expect(await lenient(signGhost(input), body, AT)).toEqual(ACCEPTED);
  });

  test('without the time in it still depends on the secret, the body and the time window', async () => {
    expect(await lenient(signOldGhost({ ...input, secret: 'u' }), body, AT)).toEqual(BAD_SIGNATURE);
    expect(await lenient(signOldGhost(input), `${body} `, AT)).toEqual(BAD_SIGNATURE);
    expect(await lenient(signOldGhost(input), body, later(301_000))).toEqual(STALE);
  });

  test('does not allow a digit to move from the time to the body', async () => {
    const { 'x-ghost-signature': signature = '', ...rest } = signGhost(input);
    const [, hex, first, others] = /^(sha256=\w+), t=(\d)(\d+)$/.exec(signature) ?? [];
    expect(await verify({ ...rest, 'x-ghost-signature': `${hex}, t=${others}` }, `${body}${first}`, AT)).toEqual(STALE);
  });

  test.each(['{}', '{"event":"site.changed"}'])('identifies a change of the site by its time: %s', async (changed) => {
    const vendorId = (at: Date) => ({ ok: true, vendorId: `site.changed:${at.getTime()}` });
    for (const at of [AT, AT, later(1)]) {
      expect(await verify(signGhost({ ...inputOf(changed), at }), changed, AT)).toEqual(vendorId(at));
    }
  });
});

describe('a Hygraph signature', () => {
  const verify = verifierOf('hygraph', { secret: ['t', 's'] });
  const bodies = [
    JSON.stringify({ operation: 'publish', data: { id: 'a', stage: 'PUBLISHED' } }),
    JSON.stringify({ title: 'Grüße 👋 \u2028 "quoted" \\ \n' }),
    JSON.stringify({ title: 'Q&A <b>' }),
    '{"title":"Q\\u0026A \\u003cb\\u003e"}',
  ];

  test.each(bodies)('is the same as that of the vendor’s package: %s', async (body) => {
    const ours = signHygraph({ ...inputOf(body), at: new Date() })['gcms-signature'] ?? '';
    expect(verifyWebhookSignature({ rawPayload: body, secret: 's', signature: ours })).toBe(true);
    const signature = generateWebhookSignature({ rawPayload: body, secret: 's', environmentName: 'staging' });
    expect(await verify({ 'gcms-signature': signature }, body)).toEqual(ACCEPTED);
    expect(await verify({ 'gcms-signature': signature }, `${body} `)).toEqual(BAD_SIGNATURE);
  });

  test.each(bodies)('may be made over the escaped text, as the service does: %s', async (body) => {
    const headers = signEscapedHygraph(inputOf(body));
    expect(await verify(headers, body, AT)).toEqual(ACCEPTED);
    expect(await verify(headers, body.replace(/[a-z]/i, 'z'), AT)).toEqual(BAD_SIGNATURE);
  });
});

describe('a Sanity signature', () => {
  const verify = verifierOf('sanity', { secret: 's' });

  test('may come without an idempotency key', async () => {
    const { 'idempotency-key': _key, ...rest } = await signSanity(inputOf('{}'));
    expect(await verify(rest, '{}', AT)).toEqual(ACCEPTED);
  });

  test('may have a space before its second part', async () => {
    const headers = await signSanity(inputOf('{}'));
    const spaced = headers['sanity-webhook-signature']?.replace(',', ', ') ?? '';
    expect(await verify({ ...headers, 'sanity-webhook-signature': spaced }, '{}', AT)).toMatchObject({ ok: true });
  });

  test('is accepted only in the configured time window', async () => {
    const narrow = verifierOf('sanity', { secret: 's', window: { past: '2s', future: '1s' } });
    const headers = await signSanity(inputOf('{}'));
    expect(await narrow(headers, '{}', later(2_000))).toMatchObject({ ok: true });
    expect(await narrow(headers, '{}', later(2_001))).toEqual(STALE);
    expect(await narrow(headers, '{}', later(-1_001))).toEqual({ ok: false, reason: 'future' });
  });
});

test('a legacy Kontent.ai signature is in the older header, which the newer one overrules', async () => {
  const input = inputOf('{}');
  const verify = verifierOf('kontent', { secret: 's' });
  expect(await verify(signLegacyKontent(input), '{}')).toEqual(ACCEPTED);
  const both = { ...signLegacyKontent(input), ...signKontent({ ...input, secret: 'other' }) };
  expect(await verify(both, '{}')).toEqual(BAD_SIGNATURE);
});

test('a WooCommerce id differs for the products of a bulk edit, which share a number, but not for a resend', async () => {
  const verify = verifierOf('woocommerce', { secret: 's' });
  const idOf = async (body: string, deliveryId: string): Promise<unknown> => {
    const headers = { ...signWoocommerce(inputOf(body)), 'x-wc-webhook-delivery-id': deliveryId };
    const verification = await verify(headers, body);
    return verification.ok && verification.vendorId;
  };
  const first = await idOf('{"id":1}', 'd1');
  expect(first).toMatch(/^d1:[0-9a-f]{16}$/);
  expect(await idOf('{"id":1}', 'd1')).toBe(first);
  expect(await idOf('{"id":2}', 'd1')).not.toBe(first);
  expect(await idOf('{"id":1}', 'd2')).not.toBe(first);
});

test("Svix's own names of the headers are those of the standard", async () => {
  const secret = `whsec_${Buffer.from('s').toString('base64')}`;
  const signed = Object.entries(signStandard({ ...inputOf('{}'), secret }));
  const headers = Object.fromEntries(signed.map(([name, value]) => [name.replace('webhook-', 'svix-'), value]));
  const verify = verifierOf('standard', { secret });
  expect(await verify(headers, '{}', AT)).toEqual({ ok: true, vendorId: headers['svix-id'] });
  expect(await verify(headers, '{ }', AT)).toEqual(BAD_SIGNATURE);
});

describe('an asymmetric signature of Standard Webhooks', () => {
  const newKeys = () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
    return { secret: `whpk_${raw.toString('base64')}`, privateKey };
  };
  const [keys, others] = [newKeys(), newKeys()];
  const body = JSON.stringify({ title: 'Grüße' });
  const timestamp = AT.getTime() / 1000;
  const signed = ({ privateKey }: typeof keys, version = 'v1a') => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `${version},${sign(null, Buffer.from(`msg_1.${timestamp}.${body}`), privateKey).toString('base64')}`,
  });
  const verify = verifierOf('standard', { secret: keys.secret });

  test('is verified with the public key', async () => {
    expect(await verify(signed(keys), body, AT)).toEqual({ ok: true, vendorId: 'msg_1' });
    const unpadded = verifierOf('standard', { secret: keys.secret.replace('=', '') });
    expect(await unpadded(signed(keys), body, AT)).toMatchObject({ ok: true });
  });

  test('may be one of several, and the key one of several', async () => {
    const symmetric = signStandard({ ...inputOf(body), secret: `whsec_${Buffer.from('s').toString('base64')}` });
    const headers = signed(keys);
    const both = `${symmetric['webhook-signature']} ${headers['webhook-signature']}`;
    const rotating = verifierOf('standard', { secret: [others.secret, keys.secret] });
    expect(await rotating({ ...headers, 'webhook-signature': both }, body, AT)).toMatchObject({ ok: true });
  });

  test('by another key, of other bytes, of another version or with the public key as an HMAC key is rejected', async () => {
    expect(await verify(signed(others), body, AT)).toEqual(BAD_SIGNATURE);
    expect(await verify(signed(keys), `${body} `, AT)).toEqual(BAD_SIGNATURE);
    expect(await verify(signed(keys, 'v1'), body, AT)).toEqual(BAD_SIGNATURE);
    const secret = keys.secret.replace('whpk_', 'whsec_');
    expect(await verify(signStandard({ ...inputOf(body), secret }), body, AT)).toEqual(BAD_SIGNATURE);
  });

  test.each(['whpk_', 'whpk_AAAA', `${keys.secret}AAAA`, 'whsk_AAAA'])('needs a whole public key, not %s', (secret) => {
    expect(() => verifierOf('standard', { secret })).toThrow(/whpk_ and the public key in base64/);
  });
});
