import type { IncomingMessage } from 'node:http';

/** Path and query. A request line may also name the scheme and host, as clients of proxies send it (RFC 9112, 3.2.2). */
export function requestTarget({ url = '/' }: IncomingMessage): string {
  if (url.startsWith('/')) return url;
  const [, target] = /^https?:\/\/[^/?]+(.*)$/i.exec(url) ?? [];
  if (target === undefined) return url;
  return target.startsWith('/') ? target : `/${target}`;
}
