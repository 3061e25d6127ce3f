import { fillTarget, matchPath, parseHeaders, parseRedirects, redirectsOf } from '../../bundle/static-rules.ts';

describe('_redirects', () => {
  it('has a rule per line, with a default status, comments, and ! for before files', () => {
    const text = '# moved\n/old  /new\n/a/* https://b.test/:splat 302! # why\n\n/app/* /app/index.html 200\n';
    expect(parseRedirects(text)).toEqual({
      rules: [
        { from: '/old', to: '/new', status: 301, force: false },
        { from: '/a/*', to: 'https://b.test/:splat', status: 302, force: true },
        { from: '/app/*', to: '/app/index.html', status: 200, force: false },
      ],
      ignored: [],
    });
  });

  it.each([
    ['/a /b 301 Country=de', 'not supported'],
    ['/a id=:id /b/:id 301', 'not supported'],
    ['https://blog.test/* /b', 'only paths of this site'],
    ['/api/* https://api.test/:splat 200', 'a rewrite to another host'],
    ['/a //evil.test 301', 'expected a path or an http(s) URL'],
    ['/a javascript:alert(1)', 'expected a path or an http(s) URL'],
    ['/a /b 500', 'the status 500'],
    ['/a', 'expected a path or an http(s) URL'],
    ['/*/x/* /b', 'at most one *'],
  ])('leaves out %s and says why', (line, why) => {
    const { rules, ignored } = parseRedirects(`# first\n${line}\n`);
    expect(rules).toEqual([]);
    expect(ignored).toEqual([expect.stringContaining(why)]);
    expect(ignored[0]).toMatch(/^_redirects:2: /);
  });

  it('is bounded, and so is what is said of its lines', () => {
    const { rules, ignored } = parseRedirects('/a /b\n'.repeat(2_200));
    expect(rules).toHaveLength(2_100);
    expect(ignored).toHaveLength(21);
    expect(ignored.at(-1)).toBe('_redirects: 80 more lines');
  });

  it('gives other places the redirects of single paths that no file and no earlier rule takes', () => {
    const { rules } = parseRedirects('/file /x\n/forced /x 301!\n/b/* /c/:splat\n/b/one /x\n/d /e 302\n/s / 200\n');
    expect(redirectsOf(rules, new Set(['file.html', 'forced/index.html']))).toEqual([
      { from: '/forced', to: '/x', status: 301 },
      { from: '/d', to: '/e', status: 302 },
    ]);
  });
});

describe('_headers', () => {
  it('has headers below a path', () => {
    expect(parseHeaders('/*\n  X-A: one: two\n  ! X-Frame-Options\n/b\n\tX-B: 1\n')).toEqual({
      rules: [
        { from: '/*', set: [['X-A', 'one: two']], unset: ['X-Frame-Options'] },
        { from: '/b', set: [['X-B', '1']], unset: [] },
      ],
      ignored: [],
    });
  });

  it.each([
    ['  X-A: 1', 'before the first path'],
    ['/*\n  Set-Cookie: a=b', 'Set-Cookie is set by the server only'],
    ['/*\n  content-length: 3', 'content-length is set by the server only'],
    ['/*\n  X-A: \u0001', 'no valid value'],
    ['/*\n  no header', 'expected "Name: value"'],
    ['https://a.test/*', 'expected a path'],
  ])('leaves out %j and says why', (text, why) => {
    expect(parseHeaders(text).ignored).toEqual([expect.stringContaining(why)]);
  });
});

describe('a pattern', () => {
  it.each([
    ['/a', '/a', {}],
    ['/a', '/a/', {}],
    ['/a/', '/a', {}],
    ['/', '/', {}],
    ['/*', '/', { splat: '' }],
    ['/*', '/a/b', { splat: 'a/b' }],
    ['/a/*', '/a', { splat: '' }],
    ['/a/*', '/a/b/c', { splat: 'b/c' }],
    ['/a/v*', '/a/v1/b', { splat: '1/b' }],
    ['/*.png', '/x/y.png', { splat: 'x/y' }],
    ['/:year/:name', '/2026/x', { year: '2026', name: 'x' }],
    ['/u/:id/*', '/u/7/b/c', { id: '7', splat: 'b/c' }],
  ])('%s matches %s', (pattern, path, values) => {
    expect(Object.fromEntries(matchPath(pattern, path) ?? [['none', '']])).toEqual(values);
  });

  it.each([
    ['/a', '/b'],
    ['/a', '/a/b'],
    ['/a/*', '/ab'],
    ['/a/*', '/'],
    ['/:x', '/'],
    ['/*.png', '/x.jpg'],
    ['/:a/:b', '/x'],
  ])("%s doesn't match %s", (pattern, path) => {
    expect(matchPath(pattern, path)).toBeUndefined();
  });

  it('fills a target', () => {
    expect(
      fillTarget(
        'https://x.test/:a/:splat?q=:none',
        new Map([
          ['a', '1'],
          ['splat', 'b/c'],
        ]),
      ),
    ).toBe('https://x.test/1/b/c?q=:none');
  });
});
