import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { resolveRequest } from '../../../bundle/resolve-request.ts';
import { requestTarget } from '../../../deployment/serve/request-target.ts';
import { createSite } from '../../../deployment/site.ts';
import { manifestOf } from '../bundles.ts';

const page = '<title>x</title>';
const site = createSite(
  '/nowhere',
  'x',
  manifestOf({
    files: {
      'index.html': page,
      'guides/index.html': page,
      'guides/start.html': page,
      'both.html': page,
      'both/index.html': page,
      'app.css': 'x',
      'search_q=a.html': page,
      'plain.html': page,
      'über uns.html': page,
      '100%.html': page,
      '.well-known/security.txt': 'x',
      'feed/index.xml': '<rss/>',
      'LICENSE.txt': 'x',
      'avatar/42.png': 'x',
      'pkg/@scope%2Fname.html': page,
      'img/caf%E9.png': 'x',
      'u/caf\uFFFD.png': 'x',
      '50%': 'x',
      'line%0Abreak.png': 'x',
    },
    urls: {
      'guides/start.html': '/guides/start',
      'guides/index.html': '/guides/',
      'search_q=a.html': '/search?q=a',
      'feed/index.xml': '/feed/',
      'LICENSE.txt': '/LICENSE',
      'avatar/42.png': '/avatar/42',
      'pkg/@scope%2Fname.html': '/pkg/@scope%2Fname',
      'line%0Abreak.png': '/line%0Abreak.png',
    },
    redirects: [
      { from: '/old', to: '/guides/start', status: 301 },
      { from: '/find?q=1', to: 'https://elsewhere.example/', status: 302 },
      { from: '/straße', to: '/', status: 308 },
      { from: '/%D1%81', to: '/guides/', status: 301 },
      { from: '/oldfeed', to: '/feed/', status: 301 },
      { from: '/plain', to: '/plain', status: 302 },
    ],
  }),
);

function resolve(target: string): string {
  const found = resolveRequest(target, site);
  if (found.kind === 'file') return found.file.path;
  return found.kind === 'redirect' ? `${found.status} ${found.location}` : found.kind;
}

describe('a request target', () => {
  it.each([
    ['/', 'index.html'],
    ['/?utm=1', 'index.html'],
    ['/guides/', 'guides/index.html'],
    ['/guides/start', 'guides/start.html'],
    ['/guides/start?x=1', 'guides/start.html'],
    ['/app.css', 'app.css'],
    ['/app.css?v=3', 'app.css'],
    ['/search?q=a', 'search_q=a.html'],
    ['/plain', 'plain.html'],
    ['/plain.html', 'plain.html'],
    ['/both', 'both.html'],
    ['/both/', 'both/index.html'],
    ['/%C3%BCber%20uns', 'über uns.html'],
    ['/100%25', '100%.html'],
    ['/.well-known/security.txt', '.well-known/security.txt'],
    ['/feed/', 'feed/index.xml'],
    ['/feed/?utm=1', 'feed/index.xml'],
    ['/feed/index.xml', 'feed/index.xml'],
    ['/LICENSE', 'LICENSE.txt'],
    ['/LICENSE.txt', 'LICENSE.txt'],
    ['/avatar/42', 'avatar/42.png'],
    ['/pkg/@scope%2Fname', 'pkg/@scope%2Fname.html'],
    ['/pkg/@scope%2fname', 'pkg/@scope%2Fname.html'],
    ['/pkg/%40scope%2Fname', 'pkg/@scope%2Fname.html'],
    ['/%67uides/st%61rt', 'guides/start.html'],
    ['/x/../guides/./start', 'guides/start.html'],
    ['/x/%2e%2E/guides/start?', 'guides/start.html'],
    ['/search?q=%61', 'search_q=a.html'],
    ['/img/caf%E9.png', 'img/caf%E9.png'],
    ['/img/caf%e9.png', 'img/caf%E9.png'],
    ['/u/caf%EF%BF%BD.png', 'u/caf\uFFFD.png'],
    ['/50%', '50%'],
    ['/line%0abreak.png', 'line%0Abreak.png'],
  ])('%s resolves to the file %s', (target, path) => {
    expect(resolve(target)).toBe(path);
  });

  it.each([
    ['/old', '301 /guides/start'],
    ['/old?x=1', '301 /guides/start'],
    ['/find?q=1', '302 https://elsewhere.example/'],
    ['/stra%C3%9Fe', '308 /'],
    ['/%d1%81', '301 /guides/'],
    ['/%D1%81?', '301 /guides/'],
    ['/oldfeed', '301 /feed/'],
    ['//guides///start', '308 /guides/start'],
    ['/guides', '308 /guides/'],
    ['/guides?x=1', '308 /guides/?x=1'],
    ['/plain/', '308 /plain'],
    ['/plain//?x', '308 /plain?x'],
  ])('%s redirects: %s', (target, expected) => {
    expect(resolve(target)).toBe(expected);
  });

  it.each([
    ['/guides/start.html', '308 /guides/start'],
    ['/guides/start.html?x=1', '308 /guides/start?x=1'],
    ['/guides/index.html', '308 /guides/'],
    ['/search_q=a.html', '308 /search?q=a'],
  ])("%s redirects to the page's URL, which client-side routers need: %s", (target, expected) => {
    expect(resolve(target)).toBe(expected);
  });

  it.each([
    '/find',
    '/nothing',
    '/guides/start/x',
    '/../etc/passwd',
    '/%2e%2e/etc/passwd',
    '/..%2findex.html',
    '/guides/..%5c..',
    '/guides/../../etc/passwd',
    '/.galley/manifest.json',
    '/.%67alley/manifest.json',
    '/%',
    '/%zz',
    '/%c3%28',
  ])('%s is not found', (target) => {
    expect(resolve(target)).toBe('not-found');
  });

  it.each(['/a%00b', '/%0d%0aSet-Cookie:x', '*', 'http://other.example/'])('%s is malformed', (target) => {
    expect(resolve(target)).toBe('malformed');
  });

  it('never redirects to another host', () => {
    const odd = createSite(
      '/nowhere',
      'x',
      manifestOf({ files: { '/evil.example/index.html': page, 'evil.example.html': page } }),
    );
    expect(resolveRequest('//evil.example', odd)).toMatchObject({ kind: 'redirect', location: '/evil.example/' });
    expect(resolveRequest('///evil.example/', odd)).not.toMatchObject({ location: '//evil.example' });
  });
});

test.each([
  ['/guides?page=1', '/guides?page=1'],
  ['/caf\xc3\xa9', '/caf%C3%A9'],
  ['//double', '//double'],
  ['http://docs.example.com/-/healthz', '/-/healthz'],
  ['HTTPS://docs.example.com:8080/a?b=http://c/', '/a?b=http://c/'],
  ['http://docs.example.com', '/'],
  ['http://docs.example.com?x', '/?x'],
  ['docs.example.com:443', 'docs.example.com:443'],
  ['*', '*'],
])('the target of the request line %s is %s', (url, target) => {
  expect(requestTarget(Object.assign(new IncomingMessage(new Socket()), { url }))).toBe(target);
});
