import { lookup } from 'node:dns/promises';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import type { ExportSettings } from '../settings.ts';

/** Thrown when a URL may not be fetched from here; the message says why and is suitable for the export's report. */
export class RefusedUrl extends Error {
  override readonly name = 'RefusedUrl';
}

/** Resolves a host name to its addresses, best first. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

const resolveBySystem: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map((entry) => entry.address);

export type AddressGuard = {
  /** Throws RefusedUrl if the URL can't be fetched whatever its name resolves to. */
  checkUrl(url: URL): void;
  /**
   * The addresses that a connection to this host and port may use. A name is resolved once per guard, so a connection
   * only uses checked addresses. Throws RefusedUrl, or the resolver's own error.
   */
  addressesFor(hostname: string, port: number): Promise<readonly string[]>;
};

/** Which addresses a site's export may reach. */
export type GuardFor = (site: Pick<ExportSettings, 'operatorHosts'>) => AddressGuard;

const WELL_KNOWN_PORTS = new Set([80, 443]);
const FIRST_UNPRIVILEGED_PORT = 1024;

/** The port of a URL, or the default port of its scheme. */
export function portOf(url: Pick<URL, 'port' | 'protocol'>): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** `host:port`, as `URL` spells the host. */
export function hostAndPort(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}

/** Normalizes an operator's `host:port` to the spelling that `URL` uses. */
function hostKey(host: string): string {
  const url = new URL(`http://${host}`);
  return `${withoutBrackets(url.hostname)}:${portOf(url)}`;
}

/** An IPv6 address of a URL's host name as `node:net` spells it. */
export function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/**
 * Decides what the exporter may connect to: public addresses, and exactly the `host:port` pairs that the operator
 * configured. Refuses everything else (private, loopback, link-local, mapped). `URL` has already normalized every
 * spelling of an IPv4 address (octal, hexadecimal, a single number, full-width digits).
 */
export function createAddressGuard(options: { operatorHosts: readonly string[]; resolve?: Resolve }): AddressGuard {
  const operatorHosts = new Set(options.operatorHosts.map(hostKey));
  const resolve = options.resolve ?? resolveBySystem;
  const resolved = new Map<string, Promise<readonly string[]>>();

  function isOperatorHost(hostname: string, port: number): boolean {
    return operatorHosts.has(`${withoutBrackets(hostname)}:${port}`);
  }

  function resolveOnce(name: string): Promise<readonly string[]> {
    const known = resolved.get(name);
    if (known !== undefined) return known;
    const lookingUp = resolve(name);
    resolved.set(name, lookingUp);
    // A failed lookup isn't cached: a later attempt may resolve the name.
    lookingUp.catch(() => resolved.delete(name));
    return lookingUp;
  }

  return {
    checkUrl(url) {
      if (url.protocol !== 'http:' && url.protocol !== 'https:') {
        throw new RefusedUrl(`refused: only http and https are fetched, not ${url.protocol}`);
      }
      if (url.username !== '' || url.password !== '') {
        throw new RefusedUrl('refused: the URL contains a user name or password');
      }
      const port = portOf(url);
      if (port < FIRST_UNPRIVILEGED_PORT && !WELL_KNOWN_PORTS.has(port) && !isOperatorHost(url.hostname, port)) {
        throw new RefusedUrl(`refused: port ${port} is not a web port`);
      }
      const literal = withoutBrackets(url.hostname);
      // The operator's hosts are checked first, because most URLs are on that host.
      if (isIP(literal) !== 0 && !isOperatorHost(url.hostname, port) && !isPublicAddress(literal)) {
        throw new RefusedUrl(`refused: ${url.hostname} is not a public address`);
      }
    },

    async addressesFor(hostname, port) {
      const literal = withoutBrackets(hostname);
      const addresses = isIP(literal) === 0 ? await resolveOnce(literal) : [literal];
      if (addresses.length === 0) throw new RefusedUrl(`${hostname} has no address`);
      // One private address is enough to refuse the name: a mixed result is how DNS rebinding begins.
      if (!addresses.every(isPublicAddress) && !isOperatorHost(hostname, port)) {
        throw new RefusedUrl(`refused: ${hostname} is not at a public address`);
      }
      return addresses;
    },
  };
}

/**
 * The addresses of the public internet. IPv4 follows the IANA special-purpose registry. Of IPv6 only the global unicast
 * block passes, without the ranges that map or tunnel to IPv4, so that no spelling of a private address passes.
 */
const special = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  special.addSubnet(network, prefix, 'ipv4');
}

const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

const special6 = new BlockList();
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  special6.addSubnet(network, prefix, 'ipv6');
}

/** True for an IPv4 or IPv6 literal of the public internet, without brackets or zone; false for any other text. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  return globalUnicast.check(address, 'ipv6') && !special6.check(address, 'ipv6');
}
