import { ResponseBody } from '../../../exporter/fetch/response-body.ts';

const MAX_HELD_BYTES = 100_000;

function source() {
  const calls: string[] = [];
  return {
    calls,
    pause: () => void calls.push('pause'),
    resume: () => void calls.push('resume'),
    abort: () => void calls.push('abort'),
  };
}

describe('a response body', () => {
  it('is returned whole and in order, and without a copy if it is one chunk', async () => {
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

  it('pauses the origin once it exceeds the limit, and is then read piece by piece', async () => {
    const from = source();
    const body = new ResponseBody(from, MAX_HELD_BYTES);
    const chunk = Buffer.alloc(MAX_HELD_BYTES / 2 + 1, 1);
    const whole = body.whole();
    body.push(chunk);
    body.push(chunk);
    expect(await whole).toBeUndefined();
    expect(from.calls).toEqual(['pause']);

    const pieces = body.pieces();
    expect((await pieces.next()).value).toBe(chunk);
    expect((await pieces.next()).value).toBe(chunk);
    expect(from.calls).toEqual(['pause', 'resume']);
    const last = pieces.next();
    body.push(Buffer.from('end'));
    body.finish('whole');
    expect((await last).value?.toString()).toBe('end');
    expect((await pieces.next()).done).toBe(true);
  });

  it('fails with the error that broke it off, however it is read', async () => {
    const error = new Error('broken off');
    const body = (): ResponseBody => {
      const failed = new ResponseBody(source(), MAX_HELD_BYTES);
      failed.push(Buffer.from('half'));
      failed.finish({ error });
      return failed;
    };
    await expect(body().whole()).rejects.toBe(error);
    const pieces = body().pieces();
    expect((await pieces.next()).value?.toString()).toBe('half');
    await expect(pieces.next()).rejects.toBe(error);
    // A dumped body hides the error.
    await body().dump();
  });

  it('that is dumped is discarded, and aborts its connection if it is long', async () => {
    const from = source();
    const body = new ResponseBody(from, MAX_HELD_BYTES);
    const dumped = body.dump();
    for (let count = 0; count < 2; count += 1) body.push(Buffer.alloc(64 * 1024));
    expect(from.calls).toEqual([]);
    body.push(Buffer.alloc(1));
    expect(from.calls).toEqual(['abort']);
    body.finish({ error: new Error('aborted') });
    await dumped;
  });
});
