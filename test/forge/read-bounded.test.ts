import { readBounded } from '../../forge/read-bounded.ts';

const tooLong = () => new Error('too long');

describe('reading a body', () => {
  it('returns all of its bytes, up to the limit', async () => {
    const body = (async function* () {
      yield Buffer.from('ab');
      yield Buffer.from([0xff]);
    })();
    expect(await readBounded(body, { maxBytes: 3, tooLong })).toEqual(Buffer.from([0x61, 0x62, 0xff]));
  });

  it('stops at the first byte beyond the limit, and closes the body', async () => {
    let chunkCount = 0;
    let isClosed = false;
    const body = (async function* () {
      try {
        for (; ; chunkCount += 1) yield Buffer.from('ab');
      } finally {
        isClosed = true;
      }
    })();
    await expect(readBounded(body, { maxBytes: 3, tooLong })).rejects.toThrow('too long');
    expect([chunkCount, isClosed]).toEqual([1, true]);
  });

  it('fails if the body fails, and never returns a partial body', async () => {
    const body = (async function* () {
      yield Buffer.from('ab');
      throw new Error('reset');
    })();
    await expect(readBounded(body, { maxBytes: 3, tooLong })).rejects.toThrow('reset');
  });
});
