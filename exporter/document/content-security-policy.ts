/** Directives that would break a bundle on some hosts and protect nothing in static files. */
const DROPPED: ReadonlySet<string> = new Set([
  'upgrade-insecure-requests',
  'block-all-mixed-content',
  'require-trusted-types-for',
  'trusted-types',
  'base-uri',
  'report-uri',
  'report-to',
  // Browsers ignore these in a page and only log a warning.
  'frame-ancestors',
  'sandbox',
]);
const INLINE: ReadonlySet<string> = new Set([
  'default-src',
  'script-src',
  'script-src-elem',
  'style-src',
  'style-src-elem',
]);

/**
 * Adapts a page's policy to the bundle. Files of other hosts are now the site's own (`'self'`, or `file:` if opened
 * from disk). Inline code is allowed, because hashes no longer match and nonces don't work in a file.
 */
export function bundledPolicy(policy: string): string {
  return policy
    .split(';')
    .map((directive) => directive.trim().split(/\s+/))
    .filter(([name = '']) => name !== '' && !DROPPED.has(name.toLowerCase()))
    .map(([name = '', ...sources]) => [name, ...bundledSources(name.toLowerCase(), sources)].join(' '))
    .join('; ');
}

function bundledSources(name: string, sources: readonly string[]): readonly string[] {
  if (!name.endsWith('-src') && !name.endsWith('-src-elem')) return sources;
  const isNone = sources.length === 0 || sources.some((source) => source.toLowerCase() === "'none'");
  if (isNone && !INLINE.has(name)) return sources;
  const kept = sources.filter(
    (source) => !/^'(?:none|nonce-.*|sha\d+-.*|strict-dynamic|report-sample)'$/i.test(source),
  );
  const added = ["'self'", 'file:', ...(INLINE.has(name) ? ["'unsafe-inline'"] : [])];
  return [...kept, ...added.filter((source) => !kept.includes(source))];
}
