import { checkProjectOrigin } from '../../../platform/dashboard/projects/check-origin.ts';
import { serveFiles, startHttpSite } from '../../helpers/http-site.ts';

const MANY = 600_000;

const foundBy = async (start: string, robots: string): Promise<string[]> => {
  const site = await startHttpSite(serveFiles({ '/': start, '/robots.txt': robots }));
  try {
    const findings = await checkProjectOrigin({ domain: 'docs.example.com', origin: site.origin });
    return findings.map(({ found }) => found);
  } finally {
    await site.close();
  }
};

describe('the check of a project', () => {
  it('finds the title, the links and the rules of a site', async () => {
    const start =
      '<title lang="en"> The docs </title><a href="/a">a</a> <a class=x href = /b>b</a> <a href="/a">again</a>';
    expect(await foundBy(start, 'User-agent: *\nDisallow: /x\n  disallow:\t/y\nDisallow:\n')).toEqual([
      'https://docs.example.com/: HTTP 200, “The docs”, 2 links',
      '2 rules that disallow something',
      'none: the export follows links instead',
    ]);
  });

  // With expressions that compare every character with every other, each of these takes hours.
  it.each([
    ['<a '.repeat(MANY), '\n'.repeat(MANY)],
    ['<title'.repeat(MANY / 3), ' '.repeat(MANY)],
    [`<a ${'x'.repeat(MANY)}`, 'disallow:'.repeat(MANY / 5)],
  ])('reads a page of %.9s… in time', async (start, robots) => {
    expect(await foundBy(start, robots)).toEqual([
      'https://docs.example.com/: HTTP 200, “no title”, 0 links',
      expect.stringMatching(/^[01] rules/),
      'none: the export follows links instead',
    ]);
  });
});
