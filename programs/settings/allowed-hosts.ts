import { isIP } from 'node:net';
import { z } from 'zod';
import { hostAndPort, isPublicAddress, withoutBrackets } from '../../exporter/fetch/address-guard.ts';

const EXPECTED = 'expected host:port, separated by commas, such as api.example.com:443';

/** Hosts as `host:port`, separated by commas, normalized as `URL` does. Private ones are rejected. */
export const allowedHosts = z.string().transform((text, context) =>
  text.split(',').map((item) => {
    const url = urlOf(item.trim());
    const message = url === undefined ? EXPECTED : privateHost(url);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
    return url === undefined ? '' : hostAndPort(url);
  }),
);

function urlOf(host: string): URL | undefined {
  if (!/^([\p{L}\d._-]+|\[[\da-f:.]+\]):[1-9]\d{0,4}$/iu.test(host)) return undefined;
  // `URL` omits the scheme's default port.
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
}

function privateHost(url: URL): string | undefined {
  const literal = withoutBrackets(url.hostname);
  const isPrivate = isIP(literal) === 0 ? /(^|\.)localhost$/.test(literal) : !isPublicAddress(literal);
  return isPrivate ? `${hostAndPort(url)} is not a public address, and agents reach no other` : undefined;
}
