/** The first piece of a body, and all of its pieces, to be read once. */
export async function peek(pieces: AsyncIterable<Buffer>): Promise<{ first: Buffer; all: AsyncIterable<Buffer> }> {
  const iterator = pieces[Symbol.asyncIterator]();
  const { value, done } = await iterator.next();
  const first: Buffer = done === true ? Buffer.alloc(0) : value;
  async function* all(): AsyncGenerator<Buffer> {
    yield first;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { first, all: all() };
}
