import { openHome } from '../../programs/process/home.ts';
import { listeningUrl } from '../../programs/process/serve.ts';
import type { Settings } from '../../programs/settings/environment.ts';
import { UsageError } from '../command-error.ts';
import { parseUrlOption } from '../orchestrator-client.ts';

/**
 * The URL to send to: the given one, which may be complete or only the host; otherwise the running `up`; otherwise HOST
 * and PORT.
 * @throws UsageError if the given URL isn't an http(s) URL, or if PORT is 0.
 */
export async function receiverUrl(
  { host, port, home }: Pick<Settings, 'host' | 'port' | 'home'>,
  { site, source, url }: { site: string; source: string; url: string | undefined },
): Promise<URL> {
  const path = `/webhooks/${encodeURIComponent(site)}/${source}`;
  if (url !== undefined) return givenUrl(url, path);
  const running = await openHome(home).running();
  if (running === undefined && port === 0)
    throw new UsageError('PORT: expected the port of the receiver, or its URL in --url');
  return new URL(path, running?.api ?? listeningUrl({ host, port }));
}

function givenUrl(text: string, path: string): URL {
  const url = parseUrlOption(text);
  return url.pathname === '/' ? new URL(path, url) : url;
}
