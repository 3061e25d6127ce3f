/** Directives that would break a bundle wherever it stands, and add nothing to static files. */
const DROPPED: ReadonlySet<string> = new Set([
  'upgrade-insecure-requests',
  'block-all-mixed-content',
  'require-trusted-types-for',
  'trusted-types',
  'base-uri',
  'report-uri',
  'report-to',
  // Nothing but a complaint of the browser where they stand in a page.
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
 * A page's policy for the bundle: what came from other hosts is now the site's own (`'self'`, and `file:` for a folder
 * opened from disk), and inline code is allowed, because its hashes no longer hold and nonces mean nothing in a file.
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
