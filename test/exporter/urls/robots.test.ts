import { headerForbidsFollowing, metaForbidsFollowing, readRobots } from '../../../exporter/urls/robots.ts';
import { runToEnd } from '../../helpers/run-to-end.ts';

describe('readRobots', () => {
  it.each([
    ['Disallow: /private', '/private/a', false],
    ['Disallow: /private', '/public', true],
    ['Disallow:', '/anything', true],
    ['Disallow: /', '/', false],
    ['Disallow: /a\nAllow: /a/b', '/a/b/c', true],
    ['Disallow: /a\nAllow: /a/b', '/a/c', false],
    ['Allow: /same\nDisallow: /same', '/same', true],
    ['Disallow: /*.pdf$', '/x/file.pdf', false],
    ['Disallow: /*.pdf$', '/x/file.pdf?v=1', true],
    ['Disallow: /*?print=', '/page?print=1', false],
    ['Disallow: /a*b*c', '/a-b-c-d', false],
    ['Disallow: /a*b*c', '/a-c-b', true],
    ['Disallow: /exact$', '/exact', false],
    ['Disallow: /exact$', '/exactly', true],
    ['Disallow: /caf%c3%a9', '/caf%C3%A9', false],
    ['Disallow: /%7Ejoe', '/~joe/x', false],
    ['Disallow: /~joe', '/%7ejoe', false],
    ['Disallow: /a%2Fb', '/a/b', true],
    ['Disallow: /café', '/caf%C3%A9', false],
    ['Disallow: /a%24\nDisallow: /b$c\nDisallow: /d%2Ae', '/a$', false],
    ['Disallow: /a%24\nDisallow: /b$c\nDisallow: /d%2Ae', '/b%24c', false],
    ['Disallow: /a%24\nDisallow: /b$c\nDisallow: /d%2Ae', '/d*e', false],
    ['Disallow: /a%24\nDisallow: /b$c\nDisallow: /d%2Ae', '/dxe', true],
  ])('%j makes %s allowed: %s', (rules, path, allowed) => {
    expect(readRobots(`User-agent: *\n${rules}\n`, 'galley').isAllowed(path)).toBe(allowed);
  });

  it('prefers the group that names the agent, and merges groups of one name', () => {
    const text =
      'User-agent: *\nDisallow: /\n\nUser-agent: other\nUser-agent: Galley\nDisallow: /a\n\nUser-agent: galley\nDisallow: /b';
    const robots = readRobots(text, 'galley');
    expect(['/', '/a', '/b', '/c'].map((path) => robots.isAllowed(path))).toEqual([true, false, false, true]);
  });

  it('ignores comments, unknown lines and rules outside a group', () => {
    const text = '\uFEFFDisallow: /\r\n# hi\r\nUser-agent: * # all\r\nCrawl-delay: 10\r\nDisallow: /x # no\r\nnonsense';
    const robots = readRobots(text, 'galley');
    expect([robots.isAllowed('/'), robots.isAllowed('/x')]).toEqual([true, false]);
  });

  it.each([
    ['User-agent: *\nCrawl-delay: 2', 2_000],
    ['User-agent: *\nCrawl-delay: 0.25\nDisallow: /x', 250],
    ['User-agent: *\nCrawl-delay: 10\n\nUser-agent: galley\nDisallow: /x', 0],
    [
      'User-agent: *\nCrawl-delay: 10\n\nUser-agent: galley\nCrawl-delay: 1\n\nUser-agent: galley\nCrawl-delay: 3',
      3_000,
    ],
    ['User-agent: *\nCrawl-delay: 86400', 30_000],
    ['User-agent: *\nCrawl-delay: soon\nCrawl-delay: -1\nCrawl-delay: 1e3', 0],
    ['Crawl-delay: 5\nUser-agent: *', 0],
  ])('reads from %j a delay of %d ms', (text, delayMs) => {
    expect(readRobots(text, 'galley').crawlDelayMs).toBe(delayMs);
  });

  it.each([
    'User-agent: *\nCrawl-delay: 1\nUser-agent: other\nDisallow: /private',
    'User-agent: *\nDisallow: /private\nCrawl-delay: 1\n\nUser-agent: other\nDisallow: /a',
    'User-agent: *\nCrawl-delay: 1\nDisallow: /private\nUser-agent: other\nDisallow: /a',
    'User-agent: *\n\nUser-agent: other\n\nDisallow: /private\nCrawl-delay: 1',
    'User-agent: *\nUser-agent: other\nDisallow: /private\nCrawl-delay: 1',
    'User-agent: *\nDisallow: /\n\nUser-agent: Galley/1.0\nDisallow: /private\nCrawl-delay: 1',
    'User-agent: *\nDisallow: /\n\nUser-agent: galley (docs)\nDisallow: /private\nCrawl-delay: 1',
  ])('reads %j as one group that applies to galley', (text) => {
    const robots = readRobots(text, 'galley');
    expect([robots.isAllowed('/a'), robots.isAllowed('/private'), robots.crawlDelayMs]).toEqual([true, false, 1_000]);
  });

  it('separates two groups at an empty line after a Crawl-delay', () => {
    const robots = readRobots('User-agent: *\nCrawl-delay: 1\n\nUser-agent: other\nDisallow: /', 'galley');
    expect([robots.isAllowed('/a'), robots.crawlDelayMs]).toEqual([true, 1_000]);
  });

  it('does not match a longer agent name', () => {
    expect(readRobots('User-agent: galleybot\nDisallow: /', 'galley').isAllowed('/')).toBe(true);
  });

  it('lists sitemaps inside and outside of groups', () => {
    const text = 'Sitemap: https://a.example/one.xml\nUser-agent: *\nDisallow:\nSITEMAP: /two.xml';
    expect(readRobots(text, 'galley').sitemaps).toEqual(['https://a.example/one.xml', '/two.xml']);
  });

  it('reads a delay of many digits without backtracking', () => {
    const text = `User-agent: *\nCrawl-delay: ${'0'.repeat(500_000)}x`;
    expect(runToEnd(() => readRobots(text, 'galley').crawlDelayMs)).toBe(0);
  });

  it('matches a pattern of many stars without backtracking', () => {
    const robots = readRobots(`User-agent: *\nDisallow: /${'*a'.repeat(500)}b`, 'galley');
    expect(runToEnd(() => robots.isAllowed(`/${'a'.repeat(5_000)}`))).toBe(true);
  });
});

describe('metaForbidsFollowing', () => {
  it.each([
    ['robots', 'nofollow', true],
    ['Robots', 'noindex, NOFOLLOW', true],
    ['galley', 'none', true],
    ['robots', 'noindex,follow', false],
    ['otherbot', 'nofollow', false],
    ['description', 'nofollow', false],
  ])('returns for %s "%s": %s', (name, content, forbids) => {
    expect(metaForbidsFollowing(name, content)).toBe(forbids);
  });
});

describe('headerForbidsFollowing', () => {
  it.each([
    [undefined, false],
    ['noindex', false],
    ['noindex, nofollow', true],
    ['galley: none', true],
    ['otherbot: noindex, nofollow', false],
    ['otherbot: noindex, galley: nofollow', true],
    ['unavailable_after: 25 Jun 2030 15:00:00 GMT, nofollow', true],
    [['otherbot: noindex', 'nofollow'], true],
    [['noindex', 'otherbot: nofollow'], false],
  ])('returns for %j: %s', (header, forbids) => {
    expect(headerForbidsFollowing(header)).toBe(forbids);
  });
});
