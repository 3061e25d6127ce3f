import { UsageError } from '../command-error.ts';
import type { Settings } from '../environment.ts';
import { openHome } from '../home.ts';
import { listeningUrl } from '../serve.ts';

/**
 * Where the delivery goes: the given address, which may be the webhook's whole or only its host; else the running `up`;
 * else HOST and PORT.
 * @throws UsageError for what is no address to post to.
 */
export async function receiverAddress(
  { host, port, home }: Pick<Settings, 'host' | 'port' | 'home'>,
  { site, source, url }: { site: string; source: string; url: string | undefined },
): Promise<URL> {
  const path = `/webhooks/${encodeURIComponent(site)}/${source}`;
  if (url !== undefined) return givenAddress(url, path);
  const running = await openHome(home).running();
  if (running === undefined && port === 0)
    throw new UsageError('PORT: expected the port of the receiver, or its address in --url');
  return new URL(path, running?.api ?? listeningUrl({ host, port }));
}

function givenAddress(text: string, path: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.username + url.password !== '')
    throw new UsageError('--url: expected an http(s) address without a password');
  return url.pathname === '/' ? new URL(path, url) : url;
}
