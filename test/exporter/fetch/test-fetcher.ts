import { createAddressGuard } from '../../../exporter/fetch/address-guard.ts';
import { createFetcher } from '../../../exporter/fetch/fetcher.ts';
import { createOriginLimiter } from '../../../exporter/fetch/origin-limiter.ts';
import type { Fetcher } from '../../../exporter/ports.ts';

type FetcherDeps = Parameters<typeof createFetcher>[0];

const LIMITS = {
  maxBufferedBytes: 100_000,
  maxBodyBytes: 1_000_000,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 20_000,
  maxConnectionsPerOrigin: 8,
  userAgent: 'galley-test',
};

/** A fetcher that may reach these hosts, with defaults for tests. */
export function fetcherFor(
  operatorHosts: string[],
  { limits = {}, ...deps }: Partial<Omit<FetcherDeps, 'limits'>> & { limits?: Partial<FetcherDeps['limits']> } = {},
): Fetcher {
  return createFetcher({
    guard: createAddressGuard({ operatorHosts }),
    limiter: createOriginLimiter({ initial: 4, max: 8 }),
    ...deps,
    limits: { ...LIMITS, ...limits },
  });
}
