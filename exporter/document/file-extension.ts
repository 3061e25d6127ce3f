/** The extensions of each media type; the first is appended to a file without one. */
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

/** Extensions for generic types, used only if a file has none. */
const WEAK: Readonly<Record<string, string>> = {
  'text/plain': 'txt',
  'text/xml': 'xml',
  'application/xml': 'xml',
  'application/json': 'json',
  'text/csv': 'csv',
  'text/markdown': 'md',
};

/** Known extensions: a URL that ends in one keeps its name, whatever its content type. */
const KNOWN: ReadonlySet<string> = new Set([
  ...Object.values(EXTENSIONS).flat(),
  ...Object.values(WEAK),
  ...['zip', 'gz', 'tgz', 'map', 'mov', 'wav', 'flac', 'webmanifest', 'tif', 'tiff', 'jxl', 'heic', 'ics', 'epub'],
]);

const PAGES: ReadonlySet<string> = new Set(['html', 'htm', 'xhtml', 'xht']);

function extensionOf(name: string): string | undefined {
  return /\.([A-Za-z0-9]{1,12})$/.exec(name)?.[1]?.toLowerCase();
}

/** Whether a name ends in a known extension that isn't one of a page. */
export function isNamedAsFile(name: string): boolean {
  const own = extensionOf(name);
  return own !== undefined && KNOWN.has(own) && !PAGES.has(own);
}

/**
 * What to append to a file name so that a static host serves it with its type (`.css` for `fonts?family=…`), or
 * nothing.
 */
export function extensionFor(name: string, type: string): string {
  const own = extensionOf(name);
  if (own !== undefined && KNOWN.has(own)) return '';
  const [strong] = Object.hasOwn(EXTENSIONS, type) ? (EXTENSIONS[type] ?? []) : [];
  if (strong !== undefined) return `.${strong}`;
  return own === undefined && Object.hasOwn(WEAK, type) ? `.${WEAK[type]}` : '';
}
