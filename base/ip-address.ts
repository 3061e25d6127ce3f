import { BlockList, isIP } from 'node:net';

type Range = { address: string; bits: number; family: 'ipv4' | 'ipv6' };

function parseRange(text: string): Range | undefined {
  const [, address = '', prefix] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const version = isIP(address);
  const longest = version === 4 ? 32 : 128;
  const bits = prefix === undefined ? longest : Number(prefix);
  if (version === 0 || bits > longest) return undefined;
  return { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** Whether a text is an IP address, or a network such as `10.0.0.0/8`. */
export function isAddressRange(text: string): boolean {
  return parseRange(text) !== undefined;
}

/** Whether an address is in one of the ranges. IPv4 addresses in IPv6 notation count as IPv4. */
export function isAddressIn(ranges: readonly string[], address: string): boolean {
  const list = new BlockList();
  for (const range of ranges.map(parseRange)) {
    if (range !== undefined) list.addSubnet(range.address, range.bits, range.family);
  }
  const plain = plainAddress(address);
  const version = isIP(plain);
  return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6');
}

/** The address without what proxies and Node put around it: brackets, a port, IPv6 notation of IPv4. */
export function plainAddress(text: string): string {
  const [, bracketed, dotted] = /^(?:\[(.+)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/.exec(text) ?? [];
  return (bracketed ?? dotted ?? text).replace(/^::ffff:(?=\d+\.)/i, '');
}

/** The network that one client usually has to itself: /24 of IPv4, /64 of IPv6. */
export function clientNetwork(address: string): string {
  const plain = plainAddress(address);
  if (isIP(plain) !== 6) return plain.replace(/\.\d+$/, '.0/24');
  const [before = '', after] = plain.split('::');
  const [first, last] = [groupsOf(before), groupsOf(after ?? '')];
  const zeros = Array<number>(after === undefined ? 0 : Math.max(8 - first.length - last.length, 0)).fill(0);
  const network = [...first, ...zeros, ...last].slice(0, 4);
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}

function groupsOf(part: string): number[] {
  return part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
}
