import { workThrough } from '../../../exporter/reuse/work-through.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('working through a list that grows', () => {
  it('comes to each item once, in their order, and never to more at a time than it may', async () => {
    const items = [0];
    const seen: number[] = [];
    let busy = 0;
    let most = 0;
    await workThrough(items, { atOnce: 3, goesOn: () => true }, async (item) => {
      seen.push(item);
      busy += 1;
      most = Math.max(most, busy);
      await turn();
      if (items.length < 40) items.push(items.length, items.length + 1);
      busy -= 1;
    });
    expect(seen).toEqual(items);
    expect(most).toBe(3);
  });

  it('begins nothing once it may not go on, and waits for what is under way', async () => {
    const ended: number[] = [];
    let mayGoOn = true;
    await workThrough([0, 1, 2, 3, 4], { atOnce: 2, goesOn: () => mayGoOn }, async (item) => {
      mayGoOn = item < 1;
      await turn();
      ended.push(item);
    });
    expect(ended).toEqual([0, 1]);
    await workThrough([0], { atOnce: 2, goesOn: () => false }, async () => void ended.push(9));
    expect(ended).toEqual([0, 1]);
  });

  it('throws what failed first, after the end of all that was under way, and begins nothing more', async () => {
    const ended: number[] = [];
    const working = workThrough([0, 1, 2, 3], { atOnce: 2, goesOn: () => true }, async (item) => {
      if (item === 0) throw new Error('broken');
      await turn();
      ended.push(item);
    });
    await expect(working).rejects.toThrow('broken');
    expect(ended).toEqual([1]);
  });
});
