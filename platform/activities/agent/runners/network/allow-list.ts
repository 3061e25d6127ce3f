import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import {
  type AddressGuard,
  hostAndPort,
  isPublicAddress,
  portOf,
  RefusedUrl,
  type Resolve,
  withoutBrackets,
} from '../../../../../exporter/fetch/address-guard.ts';
import type { AgentNetwork } from '../runner-limits.ts';

const resolveBySystem: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

/**
 * Decides what an agent's proxy may connect to: the allowed hosts, at public addresses. Other names are never resolved.
 * An allowed name is resolved for each connection, and the checked address is the one that is connected to.
 */
export function createAllowList({ allow, refuse }: AgentNetwork, resolve: Resolve = resolveBySystem): AddressGuard {
  const allowed = new Set(allow);

  async function addressesOf(hostname: string, refusal: string): Promise<readonly string[]> {
    const literal = withoutBrackets(hostname);
    if (isIP(literal) !== 0) return [literal];
    return await resolve(hostname).catch(() => {
      throw new RefusedUrl(refusal);
    });
  }

  /** Addresses of Galley's own servers on that port. If a server's name can't be resolved, the port is closed. */
  async function ownAddresses(port: number, refusal: string): Promise<readonly string[]> {
    const urls = refuse.map((host) => new URL(`http://${host}`)).filter((url) => portOf(url) === port);
    return (await Promise.all(urls.map(({ hostname }) => addressesOf(hostname, refusal)))).flat();
  }

  return {
    checkUrl(url) {
      const host = hostAndPort(url);
      if (!allowed.has(host)) throw new RefusedUrl(`${host} is not in AGENT_NETWORK_ALLOW`);
    },

    async addressesFor(hostname, port) {
      const host = `${hostname}:${port} of AGENT_NETWORK_ALLOW`;
      const addresses = await addressesOf(hostname, `${host} can't be resolved`);
      // The agent and its job's owner read the reasons, and mustn't learn addresses of the operator's network.
      if (!addresses.every(isPublicAddress)) throw new RefusedUrl(`${host} is not at a public address`);
      const own = await ownAddresses(port, `${host} is refused: a server of Galley on that port can't be resolved`);
      if (addresses.some((address) => own.includes(address))) {
        throw new RefusedUrl(`${host} is at an address that belongs to Galley itself`);
      }
      return addresses;
    },
  };
}
