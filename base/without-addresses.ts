import { isIP } from 'node:net';

/** Anything that may be an IP address with a port, as in messages of system errors. */
const MAYBE_ADDRESS = /[\da-f:.[\]]{2,60}/gi;

/** Replaces IP addresses in a message for people who mustn't learn those of the network. */
export function withoutAddresses(message: string): string {
  return message.replaceAll(MAYBE_ADDRESS, (text) => {
    const [, host = '', rest = ''] = /^(.*?)([:.]*)$/.exec(text) ?? [];
    const withoutPort = host.replace(/:\d+$/, '');
    const isAddress = [host, withoutPort].some((each) => isIP(each.replaceAll(/[[\]]/g, '')) !== 0);
    return isAddress ? `(an address)${rest}` : text;
  });
}
