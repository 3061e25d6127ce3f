/** The extension of each type a browser cares about; the first is what a nameless file gets. */
const EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  'text/css': ['css'],
  'text/javascript': ['js', 'mjs', 'cjs'],
  'application/javascript': ['js', 'mjs', 'cjs'],
  'application/x-javascript': ['js', 'mjs', 'cjs'],
  'image/svg+xml': ['svg'],
  'image/png': ['png', 'apng'],
  'image/apng': ['apng', 'png'],
  'image/jpeg': ['jpg', 'jpeg', 'jfif', 'jpe'],
  'image/gif': ['gif'],
  'image/webp': ['webp'],
  'image/avif': ['avif'],
  'image/bmp': ['bmp'],
  'image/x-icon': ['ico'],
  'image/vnd.microsoft.icon': ['ico'],
  'font/woff2': ['woff2'],
  'font/woff': ['woff'],
  'application/font-woff': ['woff', 'woff2'],
  'application/font-woff2': ['woff2'],
  'font/ttf': ['ttf'],
  'font/otf': ['otf'],
  'application/vnd.ms-fontobject': ['eot'],
  'video/mp4': ['mp4', 'm4v'],
  'video/webm': ['webm'],
  'audio/mpeg': ['mp3'],
  'audio/ogg': ['ogg', 'oga', 'opus'],
  'application/pdf': ['pdf'],
  'application/wasm': ['wasm'],
  'application/manifest+json': ['webmanifest', 'json'],
  'application/xhtml+xml': ['xhtml', 'html', 'htm', 'xht'],
  'application/rss+xml': ['xml', 'rss'],
  'application/atom+xml': ['xml', 'atom'],
};

/** Types that say little: they name a file that has no extension, and never add to one that has. */
const WEAK: Readonly<Record<string, string>> = {
  'text/plain': 'txt',
  'text/xml': 'xml',
  'application/xml': 'xml',
  'application/json': 'json',
  'text/csv': 'csv',
  'text/markdown': 'md',
};

/** Extensions that say what a file is: an address that ends in one keeps its name, whatever the server called it. */
const KNOWN: ReadonlySet<string> = new Set([
  ...Object.values(EXTENSIONS).flat(),
  ...Object.values(WEAK),
  ...['zip', 'gz', 'tgz', 'map', 'mov', 'wav', 'flac', 'webmanifest', 'tif', 'tiff', 'jxl', 'heic', 'ics', 'epub'],
]);

const PAGES: ReadonlySet<string> = new Set(['html', 'htm', 'xhtml', 'xht']);

function extensionOf(name: string): string | undefined {
  return /\.([A-Za-z0-9]{1,12})$/.exec(name)?.[1]?.toLowerCase();
}

/** Whether a name ends in an extension that says what the file is (and that it isn't a page). */
export function isNamedAsFile(name: string): boolean {
  const own = extensionOf(name);
  return own !== undefined && KNOWN.has(own) && !PAGES.has(own);
}

/** What to append to a file's name so that a static host serves it as its type: `.css` for `fonts?family=…`, or nothing. */
export function extensionFor(name: string, type: string): string {
  const own = extensionOf(name);
  if (own !== undefined && KNOWN.has(own)) return '';
  const [strong] = Object.hasOwn(EXTENSIONS, type) ? (EXTENSIONS[type] ?? []) : [];
  if (strong !== undefined) return `.${strong}`;
  return own === undefined && Object.hasOwn(WEAK, type) ? `.${WEAK[type]}` : '';
}
