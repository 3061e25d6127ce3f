import type { IncomingMessage } from 'node:http';

export interface LocalHosts {
  /** The address that the server listens on. Any but a loopback address is open to its network anyway. */
  host: string;
  /** The URL under which a proxy serves it; undefined: none is configured. */
  publicUrl: string | undefined;
  /** The variable that sets it, for the message. */
  variable: string;
  /** The paths to protect; undefined: all. */
  paths?: RegExp;
}

/**
 * Why a request for pages without a sign-in is rejected; undefined if it isn't. A website can let its own name lead to
 * 127.0.0.1 and then read local pages as its own (DNS rebinding), but its requests still name its host.
 */
export function foreignHost({ headers, url = '' }: IncomingMessage, local: LocalHosts): string | undefined {
  const { host, publicUrl, variable, paths } = local;
  if (!isLocal(host) || headers.host === undefined || paths?.test(url) === false) return undefined;
  const named = hostnameOf(`http://${headers.host}`);
  if (named !== undefined && (isLocal(named) || named === hostnameOf(publicUrl))) return undefined;
  return `expected the host localhost, a loopback address or the one of ${variable}`;
}

/** Browsers resolve names below `localhost` to loopback addresses themselves. */
function isLocal(hostname: string): boolean {
  return /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname);
}

function hostnameOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname : undefined;
}
