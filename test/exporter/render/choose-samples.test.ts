import { chooseSamples } from '../../../exporter/render/visit-samples.ts';

const at = (path: string): string => `https://docs.example.com${path}`;

describe('the pages that a browser visits', () => {
  it('begin with the start page and take one of each kind, kinds with many pages first', () => {
    const blog = Array.from({ length: 9 }, (_, number) => at(`/blog/${number}`));
    const guide = [at('/guide/a'), at('/guide/b'), at('/guide/deep/c')];
    const chosen = chooseSamples([...guide, at('/about'), ...blog, at('/')], 4);
    expect(chosen).toEqual([at('/'), at('/blog/0'), at('/guide/a'), at('/guide/deep/c')]);
  });

  it('take second ones where a site has few kinds, and no more than there are', () => {
    expect(chooseSamples([at('/'), at('/a'), at('/b'), at('/c')], 8)).toEqual([at('/'), at('/a'), at('/b')]);
    expect(chooseSamples([], 8)).toEqual([]);
  });
});
