import { verifierOf } from './sources/source-verifier.ts';
import type { SignedHeaders, SignInput } from './sources/vendor.ts';
import { withPrismicSecret } from './sources/vendors/prismic.ts';
import { vendorOf, vendors } from './sources/vendors.ts';

const NOW = new Date('2026-11-21T08:00:00.000Z');
const BODY = JSON.stringify({ ref: 'refs/heads/main', after: 'abc', title: 'Grüße aus der Küche' });
const REJECTED = { ok: false, reason: expect.any(String) };
const BAD_SIGNATURE = { ok: false, reason: 'bad-signature' };

/** The digest in a signature header, without prefix and suffix. */
const DIGEST = /[\w+/-]{20,}=*/;
const ENCODINGS = ['hex', 'base64', 'base64url'] as const;

const signing = vendors.flatMap(({ scheme, ...vendor }) => (scheme === undefined ? [] : [{ ...vendor, scheme }]));

test('every source but Prismic signs or sends a token', () => {
  expect(vendors.length - signing.length).toBe(1);
});

describe.each(signing)('a $source delivery', ({ source, secrets, settings, scheme }) => {
  const { signature, required = [], signed = [], signedParts = [], idOf, pastMs, futureMs = 60_000 } = scheme;
  const [current, previous, foreign] = secrets;
  const verify = verifierOf(source, { secret: [current, previous], ...settings });
  const sign = (change: Partial<SignInput> = {}) =>
    scheme.sign({ secret: current, body: BODY, path: '/', at: NOW, ...change });

  async function expectRejected(headers: SignedHeaders, body: string | Buffer = BODY, reason: object = REJECTED) {
    expect(await verify(headers, body, NOW)).toEqual(reason);
  }

  test("is accepted with either of two secrets, and has its sender's id", async () => {
    for (const secret of [current, previous]) {
      const headers = await sign({ secret });
      expect(await verify(headers, BODY, NOW)).toEqual({ ok: true, vendorId: idOf?.(headers, BODY) ?? null });
    }
  });

  test('signed with another secret is rejected', async () => {
    await expectRejected(await sign({ secret: foreign }), BODY, BAD_SIGNATURE);
  });

  test.each([signature, ...required])('without the header %s is rejected', async (name) => {
    const { [name]: _dropped, ...rest } = await sign();
    await expectRejected(rest);
    await expectRejected({ ...rest, [name]: '' });
  });

  test('with a signature that is wrong in its first or last character is rejected', async () => {
    const headers = await sign();
    const value = headers[signature] ?? '';
    const digest = (DIGEST.exec(value) ?? /\S+$/.exec(value))?.[0] ?? '';
    for (const at of [0, digest.length - 1]) {
      const forged = `${digest.slice(0, at)}${digest[at] === '0' ? '1' : '0'}${digest.slice(at + 1)}`;
      await expectRejected({ ...headers, [signature]: value.replace(digest, forged) }, BODY, BAD_SIGNATURE);
    }
  });

  test('with a signature of another length or encoding is rejected', async () => {
    const headers = await sign();
    const value = headers[signature] ?? '';
    const withDigest = (change: (digest: string) => string) => value.replace(DIGEST, change);
    const others = [
      value.slice(0, -1),
      `${value}0`,
      `${value}${value}`,
      Buffer.from(value).toString('base64'),
      Buffer.from(value).toString('hex'),
      ...ENCODINGS.flatMap((from) =>
        ENCODINGS.map((to) => withDigest((digest) => Buffer.from(digest, from).toString(to))),
      ),
      withDigest(() => ''),
      withDigest((digest) => digest.slice(1)),
      withDigest((digest) => `${digest}${digest}`),
      ...['x', '=', 'sha256=', 'v1,', 'Bearer', 'Bearer '],
    ].filter((other) => other !== value);
    for (const other of others) await expectRejected({ ...headers, [signature]: other });
  });

  if (scheme.signsBody) {
    test('with an altered body is rejected', async () => {
      const headers = await sign();
      for (const body of [BODY.replace('main', 'mine'), `${BODY} `, BODY.slice(0, -1), '']) {
        await expectRejected(headers, body, BAD_SIGNATURE);
      }
    });

    test('with bytes that only decode to the signed text is rejected', async () => {
      const body = JSON.stringify({ ref: 'refs/heads/main', note: '\ufffd' });
      const altered = Buffer.from(body).toString('latin1').replace('\u00ef\u00bf\u00bd', '\u00ff');
      await expectRejected(await sign({ body }), Buffer.from(altered, 'latin1'), BAD_SIGNATURE);
    });
  }

  if (signed.length > 0) {
    test.each(signed)('with an altered header %s is rejected', async (name) => {
      const headers = await sign();
      const value = headers[name] ?? '';
      const altered =
        name === 'content-type' ? 'application/json' : value.replace(/\w$/, (last) => (last === '1' ? '2' : '1'));
      expect(altered).not.toBe(value);
      await expectRejected({ ...headers, [name]: altered });
    });
  }

  if (signedParts.length > 0) {
    test.each(signedParts)('with a signature in which %s became "%s" is rejected', async (part, forged) => {
      const headers = await sign();
      const altered = (headers[signature] ?? '').replace(part, forged);
      expect(altered).not.toBe(headers[signature]);
      await expectRejected({ ...headers, [signature]: altered });
    });
  }

  if (pastMs !== undefined) {
    test.each([
      [-pastMs, { ok: true }],
      [-pastMs - 1_000, { ok: false, reason: 'stale' }],
      [futureMs, { ok: true }],
      [futureMs + 1_000, { ok: false, reason: 'future' }],
    ])('signed at %d ms from now is %j', async (offsetMs, verdict) => {
      const headers = await sign({ at: new Date(NOW.getTime() + offsetMs) });
      expect(await verify(headers, BODY, NOW)).toMatchObject(verdict);
    });
  }
});

describe('a prismic delivery, whose secret is in its body', () => {
  const [CURRENT, PREVIOUS] = vendorOf('prismic').secrets;
  const verify = verifierOf('prismic', { secret: [CURRENT, PREVIOUS] });

  test('is accepted with either of two secrets, and identified by the rest of its body', async () => {
    for (const secret of [CURRENT, PREVIOUS]) {
      const idFrom = withPrismicSecret(null, { secret: undefined });
      expect(await verify({}, withPrismicSecret(secret))).toEqual({ ok: true, vendorId: null, idFrom });
    }
  });

  test.each([
    ['another', 'hush-prism-c'],
    ['one that is wrong in its first character', `x${CURRENT.slice(1)}`],
    ['one that is wrong in its last character', `${CURRENT.slice(0, -1)}x`],
    ['a shorter', CURRENT.slice(0, -1)],
    ['a longer', `${CURRENT}a`],
    ['both', `${CURRENT}${PREVIOUS}`],
    ['an uppercase', CURRENT.toUpperCase()],
    ['a base64', Buffer.from(CURRENT).toString('base64')],
    ['an empty', ''],
    ['no', null],
    ['a list as the', [CURRENT, PREVIOUS]],
    ['an object as the', { toString: CURRENT }],
    ['a boolean as the', true],
    ['a number as the', 7],
  ])('is rejected with %s secret', async (_what, secret) => {
    expect(await verify({}, withPrismicSecret(null, { secret }))).toEqual(REJECTED);
  });

  test.each([
    ['nothing', ''],
    ['half of it', withPrismicSecret(CURRENT).slice(0, -1)],
    ['the secret alone', CURRENT],
    ['the secret as a JSON text', JSON.stringify(CURRENT)],
    ['null', 'null'],
    ['a list', `[${withPrismicSecret(CURRENT)}]`],
    ['a prototype with the secret', `{"__proto__": ${withPrismicSecret(CURRENT)}}`],
    ['the secret one level down', JSON.stringify({ body: { secret: CURRENT } })],
    ['bytes that are not UTF-8', Buffer.concat([Buffer.from(withPrismicSecret(CURRENT)), Buffer.from([0xff])])],
    ['nested too deep to serialize', `{"secret":"${CURRENT}","a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
  ])('is rejected if its body is %s', async (_what, body) => {
    expect(await verify({}, body)).toEqual({ ok: false, reason: 'malformed-body' });
  });
});
