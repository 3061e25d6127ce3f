import type { ResourceKind } from '../types.ts';
import type { TagReader } from './tag-reader.ts';

const KIND_BY_NAME: ReadonlyMap<string, ResourceKind> = new Map([
  ...['og:url', 'twitter:url'].map((name) => [name, 'identity'] as const),
  ...[
    ...['og:image', 'og:image:url', 'og:image:secure_url', 'og:video', 'og:video:url', 'og:video:secure_url'],
    ...['og:audio', 'og:audio:url', 'og:audio:secure_url', 'twitter:image', 'twitter:image:src', 'thumbnail', 'image'],
  ].map((name) => [name, 'card'] as const),
  ...[
    ...['msapplication-tileimage', 'msapplication-config', 'msapplication-square70x70logo'],
    ...['msapplication-square150x150logo', 'msapplication-wide310x150logo', 'msapplication-square310x310logo'],
  ].map((name) => [name, 'asset'] as const),
]);

const REFRESH = /^\s*\d*\.?\d*\s*[;,]?\s*(?:url\s*=\s*)?(["']?)/i;

/** `<meta>`: refresh, content security policy, preview cards and tiles. */
export function readMeta(reader: TagReader): void {
  switch (reader.value('http-equiv').toLowerCase()) {
    case 'refresh':
      readRefresh(reader);
      return;
    case 'content-security-policy':
    case 'content-security-policy-report-only':
      reader.markValue('content', 'csp', reader.value('content'));
      return;
  }
  for (const name of ['property', 'name', 'itemprop']) {
    const kind = KIND_BY_NAME.get(reader.value(name).toLowerCase());
    if (kind === undefined) continue;
    // `msapplication-config` uses "none" for no configuration.
    if (reader.value('content').toLowerCase() === 'none') return;
    reader.refer('content', kind);
    return;
  }
}

/** Whether a `<meta>` declares the document's charset. */
export function declaresCharset(reader: TagReader): boolean {
  return reader.has('charset') || reader.value('http-equiv').toLowerCase() === 'content-type';
}

function readRefresh(reader: TagReader): void {
  const content = reader.attribute('content');
  if (content === undefined) return;
  const { text } = content.value;
  const [prefix = '', quote = ''] = REFRESH.exec(text) ?? [];
  const closing = quote === '' ? -1 : text.indexOf(quote, prefix.length);
  const to = closing < 0 ? text.length : closing;
  reader.collector.refer({ span: content.value, from: prefix.length, to, layers: content.layer }, 'page');
}
