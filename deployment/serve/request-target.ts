import type { IncomingMessage } from 'node:http';
import { escapeBytes } from '../../bundle/url.ts';

/**
 * Path and query. A request line may also name the scheme and host, as clients of proxies send it (RFC 9112, 3.2.2), and
 * hold bytes that should be escaped.
 */
export function requestTarget({ url: line = '/' }: IncomingMessage): string {
  const url = escapeBytes(line);
  if (url.startsWith('/')) return url;
  const [, target] = /^https?:\/\/[^/?]+(.*)$/i.exec(url) ?? [];
  if (target === undefined) return url;
  return target.startsWith('/') ? target : `/${target}`;
}
