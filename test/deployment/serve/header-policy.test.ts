import { createHeaderPolicy } from '../../../deployment/serve/header-policy.ts';
import { runToEnd } from '../../helpers/run-to-end.ts';

function headersOf(rules: Readonly<Record<string, Record<string, string | null>>>, path: string): string[] {
  return createHeaderPolicy({ kind: 'client-hosted', rules, apiPlayground: false }).headers(path, {});
}

describe('the headers of a deployment', () => {
  it('are set and removed by the patterns that match the path; later ones win', () => {
    const rules = {
      '/**': { 'X-A': 'all', 'X-Content-Type-Options': null },
      '/assets/**/*.js': { 'x-a': 'scripts' },
    };
    expect(headersOf(rules, '/assets/app.js')).toEqual(expect.arrayContaining(['x-a', 'scripts']));
    expect(headersOf(rules, '/')).toEqual(expect.arrayContaining(['X-A', 'all']));
    expect(headersOf(rules, '/')).not.toContain('X-Content-Type-Options');
  });

  it('are found in bounded time for any path that a visitor chooses', () => {
    const rules = { [`/${'*-'.repeat(30)}x`]: { 'X-A': 'a' }, [`${'/**/a'.repeat(10)}/b`]: { 'X-A': 'b' } };
    for (const path of [`/${'-'.repeat(8_000)}`, '/a'.repeat(4_000)]) {
      expect(runToEnd(() => headersOf(rules, path))).not.toContain('X-A');
    }
  });
});

describe('an air-gapped deployment', () => {
  const { headers } = createHeaderPolicy({ kind: 'air-gapped', rules: {}, apiPlayground: false });
  const name = 'Content-Security-Policy';

  it('keeps the stricter policy of its own pages', () => {
    expect(headers('/', { [name]: "default-src 'none'" })).toContain("default-src 'none'");
  });

  it('is not opened by what a bundle sets or removes', () => {
    const usual = headers('/', {});
    const bundled = { set: { 'content-security-policy': 'default-src *', 'X-Own': '1' }, unset: [name] };
    expect(headers('/', {}, bundled)).toEqual([...usual, 'X-Own', '1']);
  });
});
