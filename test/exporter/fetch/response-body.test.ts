import { ResponseBody } from '../../../exporter/fetch/response-body.ts';

const MAX_HELD_BYTES = 100_000;

function source() {
  const asked: string[] = [];
  return {
    asked,
    pause: () => void asked.push('pause'),
    resume: () => void asked.push('resume'),
    abort: () => void asked.push('abort'),
  };
}

describe('the body of an answer', () => {
  it('is answered whole, in the order it came, and as it came where that was one chunk', async () => {
    const one = new ResponseBody(source(), MAX_HELD_BYTES);
    const chunk = Buffer.from('abc');
    one.push(chunk);
    one.finish('whole');
    expect(await one.whole()).toBe(chunk);

    const several = new ResponseBody(source(), MAX_HELD_BYTES);
    const whole = several.whole();
    for (const text of ['a', 'b', 'c']) several.push(Buffer.from(text));
    several.finish('whole');
    expect((await whole)?.toString()).toBe('abc');

    const empty = new ResponseBody(source(), MAX_HELD_BYTES);
    empty.finish('whole');
    expect(await empty.whole()).toEqual(Buffer.alloc(0));
  });

  it('has the origin wait once it is longer than may be held, and is taken piece by piece then', async () => {
    const from = source();
    const body = new ResponseBody(from, MAX_HELD_BYTES);
    const chunk = Buffer.alloc(MAX_HELD_BYTES / 2 + 1, 1);
    const whole = body.whole();
    body.push(chunk);
    body.push(chunk);
    expect(await whole).toBeUndefined();
    expect(from.asked).toEqual(['pause']);

    const pieces = body.pieces();
    expect((await pieces.next()).value).toBe(chunk);
    expect((await pieces.next()).value).toBe(chunk);
    expect(from.asked).toEqual(['pause', 'resume']);
    const last = pieces.next();
    body.push(Buffer.from('end'));
    body.finish('whole');
    expect((await last).value?.toString()).toBe('end');
    expect((await pieces.next()).done).toBe(true);
  });

  it('fails with what broke it off, however it is read', async () => {
    const error = new Error('broken off');
    const body = (): ResponseBody => {
      const made = new ResponseBody(source(), MAX_HELD_BYTES);
      made.push(Buffer.from('half'));
      made.finish({ error });
      return made;
    };
    await expect(body().whole()).rejects.toBe(error);
    const pieces = body().pieces();
    expect((await pieces.next()).value?.toString()).toBe('half');
    await expect(pieces.next()).rejects.toBe(error);
    // Nobody wants it, so nobody need know.
    await body().dump();
  });

  it('that nobody wants is let pass, and ends its connection where it is long', async () => {
    const from = source();
    const body = new ResponseBody(from, MAX_HELD_BYTES);
    const dumped = body.dump();
    for (let count = 0; count < 2; count += 1) body.push(Buffer.alloc(64 * 1024));
    expect(from.asked).toEqual([]);
    body.push(Buffer.alloc(1));
    expect(from.asked).toEqual(['abort']);
    body.finish({ error: new Error('aborted') });
    await dumped;
  });
});
