import { createByteBudget } from '../../../exporter/rewrite/byte-budget.ts';

/** Works that end when they are told to; `begun` names those under way or over, in order. */
function works(maxBytes: number) {
  const budget = createByteBudget(maxBytes);
  const begun: string[] = [];
  const ends = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const use = (name: string, bytes: number): Promise<void> =>
    budget.use(bytes, () => {
      begun.push(name);
      return new Promise((resolve, reject) => ends.set(name, { resolve, reject }));
    });
  return { use, begun, end: (name: string) => ends.get(name)?.resolve(), ends };
}

/** Until all that could go on has gone on. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a budget of bytes', () => {
  it('lets works go on side by side as long as they fit, in the order they came', async () => {
    const { use, begun, end } = works(10);
    const all = [use('a', 6), use('b', 4), use('c', 6), use('d', 1)];
    await turn();
    expect(begun).toEqual(['a', 'b']);
    end('b');
    await turn();
    expect(begun).toEqual(['a', 'b']);
    end('a');
    await turn();
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    end('c');
    end('d');
    await Promise.all(all);
  });

  it('lets one that is larger than all of it go alone, and works without bytes at any time but in their turn', async () => {
    const { use, begun, end } = works(10);
    const all = [use('nothing', 0), use('large', 50), use('small', 1), use('none', 0)];
    await turn();
    expect(begun).toEqual(['nothing', 'large']);
    end('large');
    await turn();
    expect(begun).toEqual(['nothing', 'large', 'small', 'none']);
    for (const name of ['nothing', 'small', 'none']) end(name);
    await Promise.all(all);
  });

  it('gives back what a failed work had', async () => {
    const { use, begun, end, ends } = works(10);
    const failed = use('a', 10);
    const next = use('b', 10);
    await turn();
    ends.get('a')?.reject(new Error('no room on the disk'));
    await expect(failed).rejects.toThrow('no room on the disk');
    await turn();
    expect(begun).toEqual(['a', 'b']);
    end('b');
    await next;
  });
});
