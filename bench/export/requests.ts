/** The requests that an origin got since the last reset. */
export interface RequestCounts {
  requests: number;
  /** Different addresses. */
  urls: number;
  /** Addresses asked for more than once, with their requests; some where there are many. */
  repeated: Readonly<Record<string, number>>;
}

/** An origin that counts what it is asked for. */
export interface CountingSite {
  /** `http://127.0.0.1:port`. */
  origin: string;
  resetCounts(): Promise<void>;
  requestCounts(): Promise<RequestCounts>;
}

const NAMED = 1_000;

/** Counts by URL, from one `METHOD STATUS URL` per line. */
export function countRequests(log: string): RequestCounts {
  const counts = new Map<string, number>();
  let requests = 0;
  for (const line of log.split('\n')) {
    const url = line.split(' ')[2];
    if (url === undefined) continue;
    requests += 1;
    counts.set(url, (counts.get(url) ?? 0) + 1);
  }
  const repeated = [...counts].filter(([, count]) => count > 1).slice(0, NAMED);
  return { requests, urls: counts.size, repeated: Object.fromEntries(repeated) };
}

/** The most requests that one address had. */
export function mostOfOneUrl({ requests, repeated }: RequestCounts): number {
  return Math.max(requests === 0 ? 0 : 1, ...Object.values(repeated));
}
