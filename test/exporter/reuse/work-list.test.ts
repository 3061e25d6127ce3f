import { createWorkList, type WorkList } from '../../../exporter/reuse/work-list.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a list of work that grows', () => {
  it('works on each item once, in order, and on no more at a time than it may', async () => {
    const seen: number[] = [];
    let added = 1;
    let busy = 0;
    let most = 0;
    const list: WorkList<number> = createWorkList({ atOnce: 3, goesOn: () => true }, async (item) => {
      seen.push(item);
      busy += 1;
      most = Math.max(most, busy);
      await turn();
      for (let more = 0; more < 2 && added < 40; more += 1) {
        list.add(added);
        added += 1;
      }
      busy -= 1;
    });
    list.add(0);
    await list.ended();
    expect(seen).toEqual(Array.from({ length: 40 }, (_, index) => index));
    expect(most).toBe(3);
  });

  it('starts nothing more once it must not go on, and waits for what has started', async () => {
    const ended: number[] = [];
    let mayGoOn = true;
    const list = createWorkList({ atOnce: 2, goesOn: () => mayGoOn }, async (item: number) => {
      mayGoOn = item < 1;
      await turn();
      ended.push(item);
    });
    for (const item of [0, 1, 2, 3, 4]) list.add(item);
    await list.ended();
    expect(ended).toEqual([0, 1]);
  });

  it('throws the first error once all work has ended, and starts nothing more', async () => {
    const ended: number[] = [];
    const list = createWorkList({ atOnce: 2, goesOn: () => true }, async (item: number) => {
      if (item === 0) throw new Error('broken');
      await turn();
      ended.push(item);
    });
    for (const item of [0, 1, 2, 3]) list.add(item);
    await expect(list.ended()).rejects.toThrow('broken');
    expect(ended).toEqual([1]);
  });
});
