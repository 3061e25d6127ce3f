import { headerForbidsFollowing, metaForbidsFollowing } from '../../../exporter/discover/follow-rules.ts';

describe('metaForbidsFollowing', () => {
  it.each([
    ['robots', 'nofollow', true],
    ['Robots', 'noindex, NOFOLLOW', true],
    ['galley', 'none', true],
    ['robots', 'noindex,follow', false],
    ['otherbot', 'nofollow', false],
    ['description', 'nofollow', false],
  ])('reads of %s "%s": %s', (name, content, forbids) => {
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
  ])('reads of %j: %s', (header, forbids) => {
    expect(headerForbidsFollowing(header)).toBe(forbids);
  });
});
