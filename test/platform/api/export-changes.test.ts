import { compareExports } from '../../../platform/api/static-export/changes-tasks.ts';

type Outcome = Parameters<typeof compareExports>[1];

const broken = (url: string, ...referrers: string[]): Outcome['brokenLinks'][number] => ({
  ...{ url, referrers },
  ...{ reason: 'HTTP 404', status: 404 },
});

function outcome(files: Record<string, string>, brokenLinks: Outcome['brokenLinks'] = []): Outcome {
  const list = Object.entries(files).map(([path, sha256]) => ({ path, sha256, size: 1, contentType: 'text/html' }));
  return { jobId: 'se_0000000000000001', files: list, brokenLinks };
}

describe('the changes of an export', () => {
  it('are the files that were added, changed and removed', () => {
    const before = outcome({ 'a.html': '1', 'b.html': '1', 'c.html': '1' });
    expect(compareExports(before, outcome({ 'a.html': '1', 'b.html': '2', 'd.html': '1' }))).toEqual({
      ...{ since: 'se_0000000000000001', added: ['d.html'], changed: ['b.html'], removed: ['c.html'] },
      newlyBroken: [],
    });
  });

  it('are all files and all broken links for the first export', () => {
    const first = outcome({ 'a.html': '1' }, [broken('https://docs.example.com/x', 'https://docs.example.com/a')]);
    expect(compareExports(undefined, first)).toEqual({
      ...{ since: null, added: ['a.html'], changed: [], removed: [] },
      newlyBroken: [{ link: 'https://docs.example.com/x', referrer: 'https://docs.example.com/a' }],
    });
  });

  it('are the links that were not broken before, with each of their pages', () => {
    const before = outcome({}, [broken('https://docs.example.com/old', 'https://docs.example.com/a')]);
    const now = outcome({}, [
      broken('https://docs.example.com/old', 'https://docs.example.com/b'),
      broken('https://docs.example.com/new', 'https://docs.example.com/a', 'https://docs.example.com/b'),
    ]);
    expect(compareExports(before, now).newlyBroken).toEqual([
      { link: 'https://docs.example.com/new', referrer: 'https://docs.example.com/a' },
      { link: 'https://docs.example.com/new', referrer: 'https://docs.example.com/b' },
    ]);
  });

  it('leave out precompressed siblings', () => {
    const now = outcome({ 'a.html': '2' });
    now.files = now.files.flatMap((page) => [page, { ...page, path: 'a.html.br', encoding: 'br' }]);
    expect(compareExports(outcome({ 'a.html': '1' }), now)).toMatchObject({ added: [], changed: ['a.html'] });
  });
});
