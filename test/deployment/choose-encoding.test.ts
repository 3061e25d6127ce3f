import { chooseEncoding } from '../../deployment/choose-encoding.ts';
import { manifestOf } from './bundles.ts';

const [file] = manifestOf({ files: { 'a.html': 'text' } }).files;
if (file === undefined) throw new Error('there is no file');
const siblings = [
  { ...file, path: 'a.html.br', encoding: 'br' },
  { ...file, path: 'a.html.gz', encoding: 'gzip' },
];

const own = file;
function chosen(accepted: string | undefined, among = siblings): string {
  const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
  return chooseEncoding({ headers }, own, among).encoding ?? 'identity';
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
  ])('answers Accept-Encoding "%s" with %s', (accepted, expected) => {
    expect(chosen(accepted)).toBe(expected);
  });

  it('has nothing to choose without siblings', () => {
    expect(chosen('br, gzip', [])).toBe('identity');
  });
});
