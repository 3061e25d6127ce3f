import { signGhost, signOldGhost } from '../signing/ghost.ts';
import { verifierOf } from './source-verifier.ts';

describe('a Ghost signature', () => {
  const body = JSON.stringify({ post: { current: { id: 'g1', status: 'published' }, previous: { status: 'draft' } } });
  const input = { secret: 's', body, path: '/', at: new Date() };
  const verify = verifierOf('ghost', { secret: ['t', 's'] });
  const lenient = verifierOf('ghost', { secret: ['t', 's'], unsignedTime: true });

  test('covers the time unless the site says that its Ghost leaves that out', async () => {
    expect(await verify(signGhost(input), body)).toEqual({ ok: true, vendorId: null });
    expect(await verify(signOldGhost(input), body)).toEqual({ ok: false, reason: 'bad-signature' });
    expect(await lenient(signOldGhost(input), body)).toEqual({ ok: true, vendorId: null });
    expect(await lenient(signGhost(input), body)).toEqual({ ok: true, vendorId: null });
  });

  test('without a time in it is still held to the secret, the body and the window', async () => {
    const refused = { ok: false, reason: 'bad-signature' };
    expect(await lenient(signOldGhost({ ...input, secret: 'u' }), body)).toEqual(refused);
    expect(await lenient(signOldGhost(input), `${body} `)).toEqual(refused);
    const at = new Date(input.at.getTime() - 301_000);
    expect(await lenient(signOldGhost({ ...input, at }), body)).toEqual({ ok: false, reason: 'stale' });
  });

  test('moves no digit from the time into the body', async () => {
    const { 'x-ghost-signature': signature = '', ...rest } = signGhost(input);
    const [, hex, first, others] = /^(sha256=\w+), t=(\d)(\d+)$/.exec(signature) ?? [];
    const forged = { ...rest, 'x-ghost-signature': `${hex}, t=${others}` };
    expect(await verify(forged, `${body}${first}`)).toEqual({ ok: false, reason: 'stale' });
  });

  test('tells two changes of a site apart, whose body is always the same, and a resend from neither', async () => {
    const changed = { ...input, body: '{}' };
    const named = '{"event":"site.changed"}';
    expect(await verify(signGhost({ ...changed, body: named }), named)).toMatchObject({
      vendorId: `site.changed:${input.at.getTime()}`,
    });
    const first = await verify(signGhost(changed), '{}');
    expect(first).toEqual({ ok: true, vendorId: `site.changed:${input.at.getTime()}` });
    expect(await verify(signGhost(changed), '{}')).toEqual(first);
    const second = await verify(signGhost({ ...changed, at: new Date(input.at.getTime() + 1) }), '{}');
    expect(second).toEqual({ ok: true, vendorId: `site.changed:${input.at.getTime() + 1}` });
  });
});
