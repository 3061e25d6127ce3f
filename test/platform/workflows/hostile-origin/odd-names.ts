/** Paths as a hostile origin links them, and what must be at the end of each; every page says its own path. */
export const ODD_PATHS: readonly string[] = [
  '/a/..%2f..%2f..%2fetc/passwd',
  '/a/%2e%2e/%2e%2e/outside',
  '/..%5c..%5cwindows',
  '/%2e%2e%2fhidden',
  '/%2e',
  '/...',
  '/a/.%2e/b%2f',
  '/nul%00byte',
  '/line%0abreak%0d',
  '/tab%09bell%07',
  '/C:%5cboot.ini',
  '/%2fetc%2fshadow',
  '//double//slashes',
  '/.galley/manifest.json',
  '/.GALLEY/page',
  '/con',
  '/aux.html',
  '/nul.tar.html',
  '/COM1',
  '/lpt9.page',
  '/prn/child',
  '/trailing.',
  '/trailing%20',
  '/stars*and?questions',
  '/pipe%7Cquote%22angle%3C%3E',
  '/Case',
  '/case',
  '/CASE',
  '/caf%C3%A9',
  '/cafe%CC%81',
  '/caf%E9',
  '/folder',
  '/folder/child',
  '/folder.html',
  '/folder.html/child',
  '/-rf',
  '/~root',
  '/$(id)',
  '/%F0%9F%92%A5',
  '/%E2%80%AEtxt.exe',
  `/${'n'.repeat(300)}`,
  `/${'%C3%BC'.repeat(150)}`,
  `/${Array.from({ length: 30 }, (_, index) => `${index}-${'d'.repeat(60)}`).join('/')}`,
];

/** Names that some file system or archive tool refuses, or takes for something else. */
const UNSAFE_CHARACTER = new RegExp(`[${String.fromCharCode(0)}-${String.fromCharCode(31)}"*:<>?|\\\\]`);
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** What is wrong with a bundle's path; undefined where every system takes it as it is. */
export function faultOf(path: string): string | undefined {
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.' || segment === '..') return 'leads elsewhere';
    if (UNSAFE_CHARACTER.test(segment)) return 'has a character that not every system takes';
    if (DEVICE.test(segment)) return 'names a device';
    if (/[. ]$/.test(segment)) return 'ends in what Windows drops';
    if (Buffer.byteLength(segment) > 255) return 'is too long';
  }
  return undefined;
}
