import { createHash } from 'node:crypto';
import { z } from 'zod';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { configWith, publishedSignals, type RunningApi, startApi } from './running-api.ts';
import { schemes } from './schemes.ts';
import type { SignedHeaders, SignInput } from './signing.ts';

const receipt = z.strictObject({ deliveryId: z.string(), accepted: z.array(z.string()) });

const BODY = JSON.stringify({ ref: 'refs/heads/main', after: 'abc', title: 'Grüße aus der Küche' });

/** The digest in a signature's header, whatever stands around it. */
const SIGNATURE = /[\w+/-]{20,}=*/;
const ENCODINGS = ['hex', 'base64', 'base64url'] as const;

let temporal: TestTemporal;
let api: RunningApi;

beforeAll(async () => {
  temporal = await connectTemporal();
  const webhooks = Object.fromEntries(
    schemes.map(({ source, secrets, settings }) => [source, { secret: secrets, ...settings }]),
  );
  const sites = Object.fromEntries(schemes.map(({ source }) => [`site-${source}`, { webhooks }]));
  api = await startApi({ client: temporal.client, config: configWith(sites) });
});

afterAll(async () => {
  await api.stop();
  await temporal.stop();
});

describe.each(schemes)('a $source delivery', (scheme) => {
  const path = `/webhooks/site-${scheme.source}/${scheme.source}`;
  const sign = (change: Partial<SignInput> = {}) =>
    scheme.sign({ secret: scheme.secrets[0], body: BODY, path, at: new Date(), ...change });
  const post = (headers: SignedHeaders, body: string | Buffer = BODY) =>
    fetch(api.url + path, { method: 'POST', headers, body });

  async function expectRefused(headers: SignedHeaders, body?: string | Buffer): Promise<void> {
    const answer = await post(headers, body);
    expect(await answer.json()).toEqual({ error: 'the delivery could not be verified' });
    expect(answer.status).toBe(401);
  }

  test('that is signed is accepted once Temporal holds it, by either of two secrets', async () => {
    for (const secret of scheme.secrets) {
      const answer = await post(await sign({ secret }));
      expect(answer.status).toBe(202);
      const body = receipt.parse(await answer.json());
      expect(body.accepted).toEqual([`export:site-${scheme.source}`]);
      const held = await publishedSignals(temporal.client, `site-${scheme.source}`);
      expect(held.at(-1)?.deliveries).toMatchObject([{ id: body.deliveryId, source: scheme.source }]);
    }
  });

  test('has the id of its sender for a day, and where it has none the hash of its body for a minute', async () => {
    const headers = await sign();
    const id = scheme.idOf(headers, BODY);
    const { deliveryId } = receipt.parse(await (await post(headers)).json());
    const hash = `sha256:${createHash('sha256').update(BODY).digest('hex')}`;
    expect(deliveryId).toBe(id ?? hash);
    const held = await publishedSignals(temporal.client, `site-${scheme.source}`);
    const dedupeMs = id === null ? 60_000 : 24 * 3_600_000;
    expect(held.at(-1)?.deliveries).toMatchObject([{ id: deliveryId, dedupeMs }]);
  });

  test('signed with another secret is refused', async () => {
    await expectRefused(await sign({ secret: scheme.foreignSecret }));
  });

  if (scheme.signsBody) {
    test('whose body was altered is refused', async () => {
      await expectRefused(await sign(), BODY.replace('main', 'mine'));
      await expectRefused(await sign(), `${BODY} `);
      await expectRefused(await sign(), BODY.slice(0, -1));
      await expectRefused(await sign(), '');
    });

    test('whose letters were replaced by bytes that decode to the same text is refused', async () => {
      const body = JSON.stringify({ ref: 'refs/heads/main', note: '\ufffd' });
      const altered = Buffer.from(body).toString('latin1').replace('\u00ef\u00bf\u00bd', '\u00ff');
      await expectRefused(await sign({ body }), Buffer.from(altered, 'latin1'));
    });
  }

  test.each(scheme.required)('without the header %s is refused', async (name) => {
    const { [name]: _dropped, ...rest } = await sign();
    await expectRefused(rest);
    await expectRefused({ ...rest, [name]: '' });
  });

  if (scheme.signed.length > 0) {
    test.each(scheme.signed)('whose header %s was altered is refused', async (name) => {
      const headers = await sign();
      const value = headers[name] ?? '';
      const altered =
        name === 'content-type' ? 'application/json' : value.replace(/\w$/, (last) => (last === '1' ? '2' : '1'));
      expect(altered).not.toBe(value);
      await expectRefused({ ...headers, [name]: altered });
    });
  }

  if (scheme.signedParts !== undefined) {
    test.each(scheme.signedParts)('whose header %s has an altered part (%s to "%s") is refused', async (...forgery) => {
      const [name, part, forged] = forgery;
      const headers = await sign();
      const altered = (headers[name] ?? '').replace(part, forged);
      expect(altered).not.toBe(headers[name]);
      await expectRefused({ ...headers, [name]: altered });
    });
  }

  test('whose signature is wrong in its first or its last character is refused', async () => {
    const headers = await sign();
    const signature = headers[scheme.signatureHeader] ?? '';
    const digest = (SIGNATURE.exec(signature) ?? /\S+$/.exec(signature))?.[0] ?? '';
    for (const at of [0, digest.length - 1]) {
      const altered = `${digest.slice(0, at)}${digest[at] === '0' ? '1' : '0'}${digest.slice(at + 1)}`;
      await expectRefused({ ...headers, [scheme.signatureHeader]: signature.replace(digest, altered) });
    }
  });

  test('whose signature has another length or encoding is refused', async () => {
    const headers = await sign();
    const signature = headers[scheme.signatureHeader] ?? '';
    const others = [
      signature.slice(0, -1),
      `${signature}0`,
      `${signature}${signature}`,
      Buffer.from(signature).toString('base64'),
      Buffer.from(signature).toString('hex'),
      ...ENCODINGS.flatMap((from) =>
        ENCODINGS.map((to) => signature.replace(SIGNATURE, (value) => Buffer.from(value, from).toString(to))),
      ),
      signature.replace(SIGNATURE, ''),
      signature.replace(SIGNATURE, (value) => value.slice(1)),
      signature.replace(SIGNATURE, (value) => `${value}${value}`),
      'x',
      '=',
      'sha256=',
      'v1,',
      'Bearer',
      'Bearer ',
    ].filter((other) => other !== signature);
    for (const other of others) await expectRefused({ ...headers, [scheme.signatureHeader]: other });
  });

  const { pastMs } = scheme;
  if (pastMs !== undefined) {
    test('is refused when its signed time is too old or too far ahead, and accepted just within', async () => {
      const at = (offsetMs: number) => new Date(Date.now() + offsetMs);
      await expectRefused(await sign({ at: at(-pastMs - 2_000) }));
      await expectRefused(await sign({ at: at(65_000) }));
      expect((await post(await sign({ at: at(-pastMs + 10_000) }))).status).toBe(202);
      expect((await post(await sign({ at: at(50_000) }))).status).toBe(202);
    });
  }
});

test('says why only to the log, and writes neither bodies nor secrets there', async () => {
  const answer = await fetch(`${api.url}/webhooks/site-token/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer nonsense', 'x-request-id': 'find-me' },
    body: BODY,
  });
  expect(answer.headers.get('x-request-id')).toBe('find-me');
  const line = api.log.find((entry) => entry.includes('find-me'));
  expect(line).toContain('"reason":"bad-signature"');
  const all = api.log.join();
  for (const hidden of ['Küche', 'nonsense', 'token-a', 'octo-a', 'hush-a']) expect(all).not.toContain(hidden);
});
