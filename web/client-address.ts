import { isIP } from 'node:net';
import type { Request } from 'express';
import { plainAddress } from '../base/ip-address.ts';

/**
 * The client's address. Behind proxies that the app trusts (its setting `trust proxy`), the last one in
 * `X-Forwarded-For` that isn't theirs, unless it is no address.
 */
export function clientAddress(request: Request): string {
  const named = plainAddress(request.ip ?? '');
  return isIP(named) === 0 ? plainAddress(request.socket.remoteAddress ?? '') : named;
}
