import { interleave } from '../export/interleave.ts';
import { usageOf } from '../export/process-usage.ts';
import { temporaryFolder, withCleanups } from '../with-cleanups.ts';
import { type Contender, type ContenderName, startContenders } from './contenders.ts';
import { type ServeCase, writeServeSite } from './site.ts';
import { runWrk } from './wrk.ts';

export type ServeOptions = {
  rounds: number;
  connections: number;
  /** Measured time per case, server and round, after one second of warm-up. */
  seconds: number;
  only?: string | undefined;
};

/** `cpuMs`: the server's processor time per response, in milliseconds. */
export type ServeSample = { perSecond: number; p99Ms: number; failed: number; cpuMs: number };
export type ServeFigures = Record<string, Record<ContenderName, ServeSample[]>>;

const WARM_UP_SECONDS = 1;

/** Measures every case in rounds, with the three servers in turn. */
export async function runServe(
  options: ServeOptions,
  { progress }: { progress(text: string): void },
): Promise<ServeFigures> {
  return await withCleanups(async (lifetime) => {
    const folder = await temporaryFolder(lifetime, 'galley-bench-serve-');
    const { valuesFile, cases } = await writeServeSite(folder);
    const contenders = await startContenders({ folder, valuesFile }, lifetime);
    const figures: ServeFigures = {};
    for (const [name, requested] of Object.entries(cases)) {
      if (options.only !== undefined && !name.includes(options.only)) continue;
      progress(name);
      const measure = (contender: Contender) => async (): Promise<ServeSample> =>
        await measureOne(await prepare(requested, contender), contender, options);
      figures[name] = await interleave(options.rounds, {
        galley: measure(contenders.galley),
        sirv: measure(contenders.sirv),
        nginx: measure(contenders.nginx),
      });
    }
    return figures;
  });
}

type Request = { url: string; headers: Readonly<Record<string, string>> };

/** Checks that the server's response fits the case. Adds the server's ETag if the case is a revalidation. */
async function prepare({ path, headers, bodyBytes }: ServeCase, { origin }: Contender): Promise<Request> {
  const url = origin + path;
  const expected = bodyBytes === 0 ? 304 : headers.Range === undefined ? 200 : 206;
  const etag = bodyBytes === 0 ? (await fetch(url, { headers })).headers.get('etag') : null;
  const sent = etag === null ? headers : { ...headers, 'If-None-Match': etag };
  // By default, fetch sends `no-cache` along with If-None-Match, so a server may not respond with 304.
  const response = await fetch(url, { headers: { ...sent, 'Cache-Control': 'max-age=0' } });
  await response.arrayBuffer();
  const length = Number(response.headers.get('content-length') ?? 0);
  if (response.status !== expected || (bodyBytes > 0 && length !== bodyBytes)) {
    throw new Error(`${url}: expected ${expected} with ${bodyBytes} bytes, got ${response.status} with ${length}`);
  }
  return { url, headers: sent };
}

async function measureOne(request: Request, { pids }: Contender, options: ServeOptions): Promise<ServeSample> {
  const { connections, seconds } = options;
  await runWrk({ ...request, connections, seconds: WARM_UP_SECONDS });
  const before = await cpuSecondsOf(pids);
  const { perSecond, p99Ms, failed } = await runWrk({ ...request, connections, seconds });
  const cpuSeconds = (await cpuSecondsOf(pids)) - before;
  return { perSecond, p99Ms, failed, cpuMs: (cpuSeconds * 1_000) / (perSecond * seconds) };
}

async function cpuSecondsOf(pids: readonly number[]): Promise<number> {
  const usages = await Promise.all(pids.map(usageOf));
  return usages.reduce((sum, usage) => sum + (usage?.cpuSeconds ?? 0), 0);
}
