import { chooseSamples } from '../../../exporter/crawl/visit-samples.ts';

const at = (path: string): string => `https://docs.example.com${path}`;

describe('chooseSamples', () => {
  it('starts with the start page and takes one page per folder, folders with many pages first', () => {
    const blog = Array.from({ length: 9 }, (_, number) => at(`/blog/${number}`));
    const guide = [at('/guide/a'), at('/guide/b'), at('/guide/deep/c')];
    const chosen = chooseSamples([...guide, at('/about'), ...blog, at('/')], 4);
    expect(chosen).toEqual([at('/'), at('/blog/0'), at('/guide/a'), at('/guide/deep/c')]);
  });

  it('takes further pages if a site has few folders, up to all of its pages', () => {
    expect(chooseSamples([at('/'), at('/a'), at('/b'), at('/c')], 8)).toEqual([at('/'), at('/a'), at('/b')]);
    expect(chooseSamples([], 8)).toEqual([]);
  });
});
