/** The requests that an origin got since the last reset. */
export interface RequestCounts {
  requests: number;
  /** Distinct URLs. */
  urls: number;
  /** URLs requested more than once, with the number of requests. Limited to the first 1,000. */
  repeated: Readonly<Record<string, number>>;
}

/** An origin that counts its requests. */
export interface CountingSite {
  /** `http://127.0.0.1:port`. */
  origin: string;
  resetCounts(): Promise<void>;
  requestCounts(): Promise<RequestCounts>;
}

const MAX_LISTED = 1_000;

/** Counts the URLs in a log with one `METHOD STATUS URL` per line. */
export function countRequests(log: string): RequestCounts {
  const counts = new Map<string, number>();
  let requests = 0;
  for (const line of log.split('\n')) {
    const url = line.split(' ')[2];
    if (url === undefined) continue;
    requests += 1;
    counts.set(url, (counts.get(url) ?? 0) + 1);
  }
  const repeated = [...counts].filter(([, count]) => count > 1).slice(0, MAX_LISTED);
  return { requests, urls: counts.size, repeated: Object.fromEntries(repeated) };
}

/** The highest number of requests for one URL. */
export function mostOfOneUrl({ requests, repeated }: RequestCounts): number {
  return Math.max(requests === 0 ? 0 : 1, ...Object.values(repeated));
}
