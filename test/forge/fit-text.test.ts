import { fitBody, fitTitle } from '../../forge/hosted/octokit-forge.ts';

describe('a text for a forge', () => {
  it('is unchanged if every forge accepts it', () => {
    expect(fitTitle('Say "hello" 👋 עברית')).toBe('Say "hello" 👋 עברית');
    expect(fitBody('One.\r\n\n\tTwo.\n')).toBe('One.\r\n\n\tTwo.\n');
  });

  it('has a title of one line without control characters', () => {
    expect(fitTitle('\n One\r\ntwo\0three\u001b[31m ')).toBe('One two three [31m');
  });

  it('is truncated at a whole character if it is too long', () => {
    expect(fitTitle('👋'.repeat(200))).toBe(`${'👋'.repeat(127)}…`);
    expect(fitTitle('x'.repeat(255))).toHaveLength(255);
    expect(fitTitle('x'.repeat(256))).toHaveLength(255);
    expect(fitBody('x'.repeat(100_000))).toHaveLength(65_000);
  });

  it('has no NUL and no unpaired surrogates, which databases cannot store', () => {
    expect(fitBody('a\0b\ud800c')).toBe('ab\ufffdc');
  });
});
