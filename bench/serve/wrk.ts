import { execa } from 'execa';
import { z } from 'zod';
import { findOnPath } from '../../embedded/find-on-path.ts';

const result = z.object({ perSecond: z.number(), p50Ms: z.number(), p99Ms: z.number(), failed: z.number() });
type WrkResult = z.infer<typeof result>;

type WrkLoad = {
  url: string;
  headers: Readonly<Record<string, string>>;
  connections: number;
  seconds: number;
};

/** Sends requests with wrk, one at a time per connection. `failed`: errors and 4xx or 5xx. */
export async function runWrk({ url, headers, connections, seconds }: WrkLoad): Promise<WrkResult> {
  const wrk = await findOnPath('wrk');
  if (wrk === undefined) throw new Error('wrk is not installed. Run: npm run setup:system');
  const sent = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
  const load = ['--threads', '1', '--connections', String(connections), '--duration', `${seconds}s`];
  const { stdout } = await execa(wrk, [...load, ...sent, '--script', 'bench/serve/result.lua', url]);
  const json = stdout.split('\n').find((line) => line.startsWith('{')) ?? '';
  return result.parse(JSON.parse(json));
}
