import { chooseEncoding } from '../../../deployment/serve/representation.ts';

function chosen(accepted: string | undefined, codings = ['br', 'gzip']): string {
  return chooseEncoding(accepted, codings) ?? 'identity';
}

describe('chooseEncoding', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['br;q=0.5, gzip;q=0.5', 'br'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['gzip, *;q=0', 'gzip'],
    ['identity;q=1, gzip;q=0.5', 'identity'],
    ['deflate', 'identity'],
    ['deflate, identity;q=0', 'identity'],
    ['*;q=0', 'identity'],
    ['br;q=x, ;;, gzip;q=0.2', 'gzip'],
  ])('chooses for Accept-Encoding "%s": %s', (accepted, expected) => {
    expect(chosen(accepted)).toBe(expected);
  });

  it('chooses identity if the file has no precompressed siblings', () => {
    expect(chosen('br, gzip', [])).toBe('identity');
  });
});
