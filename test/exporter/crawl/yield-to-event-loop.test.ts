import { yieldToEventLoop } from '../../../exporter/crawl/yield-to-event-loop.ts';

/** Notes each turn of the event loop, until it is told to end. */
function noteTurns(note: () => void): () => void {
  let next = setImmediate(function again() {
    note();
    next = setImmediate(again);
  });
  return () => clearImmediate(next);
}

describe('a turn of one’s own', () => {
  it('comes to those who wait one after another, with a turn of the event loop in between', async () => {
    const order: string[] = [];
    const waiting = ['first', 'second', 'third'].map(async (name) => {
      await yieldToEventLoop();
      order.push(name);
    });
    const end = noteTurns(() => order.push('others'));
    await Promise.all(waiting);
    end();
    expect(order).toEqual(['first', 'others', 'second', 'others', 'third']);
  });

  it('comes also to whoever begins to wait when nobody waits any more, and in a turn of another', async () => {
    const order: string[] = [];
    await yieldToEventLoop();
    const nested = yieldToEventLoop().then(() => order.push('nested'));
    await Promise.all([nested, yieldToEventLoop().then(() => order.push('beside'))]);
    await yieldToEventLoop();
    expect(order).toEqual(['nested', 'beside']);
  });
});
