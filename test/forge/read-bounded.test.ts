import { readBounded } from '../../forge/read-bounded.ts';

const tooLong = () => new Error('too long');

describe('reading a body', () => {
  it('gives all of its bytes, up to the bound', async () => {
    const body = (async function* () {
      yield Buffer.from('ab');
      yield Buffer.from([0xff]);
    })();
    expect(await readBounded(body, { maxBytes: 3, tooLong })).toEqual(Buffer.from([0x61, 0x62, 0xff]));
  });

  it('ends at the first byte too many, and lets go of the body', async () => {
    let asked = 0;
    let isClosed = false;
    const body = (async function* () {
      try {
        for (; ; asked += 1) yield Buffer.from('ab');
      } finally {
        isClosed = true;
      }
    })();
    await expect(readBounded(body, { maxBytes: 3, tooLong })).rejects.toThrow('too long');
    expect([asked, isClosed]).toEqual([1, true]);
  });

  it('fails as the body does, and never gives a part for the whole', async () => {
    const body = (async function* () {
      yield Buffer.from('ab');
      throw new Error('reset');
    })();
    await expect(readBounded(body, { maxBytes: 3, tooLong })).rejects.toThrow('reset');
  });
});
