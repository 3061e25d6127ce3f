import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { spawnGuarded } from '../../embedded/guarded-child.ts';
import { freePort } from '../../test/helpers/free-port.ts';
import { builtGalley } from '../../test/helpers/system/built-product.ts';
import { createPrograms } from '../../test/helpers/system/programs.ts';
import { waitFor } from '../../test/helpers/system/wait-for.ts';
import { startNginx } from '../export/nginx-site.ts';
import { withDescendants } from '../export/process-usage.ts';
import { typescript } from '../run-load.ts';
import type { Lifetime } from '../with-cleanups.ts';

export type ContenderName = 'galley' | 'sirv' | 'nginx';

/** `pids`: the server's processes and their guards, which use no processor time. */
export type Contender = { origin: string; pids: readonly number[] };

/** Starts `galley deployment`, and sirv and nginx on the folder that it unpacked. */
export async function startContenders(
  { folder, valuesFile }: { folder: string; valuesFile: string },
  lifetime: Lifetime,
): Promise<Record<ContenderName, Contender>> {
  const programs = createPrograms(await builtGalley());
  lifetime.add(() => programs.stop());
  const home = join(folder, 'home');
  const variables = { GALLEY_HOME: home, DEPLOYMENT_PORT: '0', LOG_LEVEL: 'warn' };
  const galley = await programs.start({ name: 'deployment', args: ['deployment', '--values', valuesFile], variables });
  const origin = /http\S+/.exec(galley.url)?.[0] ?? '';
  await waitFor(async () => (await fetch(`${origin}/-/readyz`)).ok, { describe: 'served the bundle' });
  const served = await unpackedFolder(home);
  const nginx = await startNginx({ folder: served, lifetime });
  return {
    galley: { origin, pids: await withDescendants(galley.pid) },
    sirv: await startSirv(served, lifetime),
    nginx: { origin: nginx.origin, pids: await withDescendants(nginx.pid) },
  };
}

async function unpackedFolder(home: string): Promise<string> {
  const entries = await readdir(home, { recursive: true });
  const index = entries.find((path) => path.endsWith('index.html'));
  if (index === undefined) throw new Error('the deployment unpacked no index.html');
  return join(home, index, '..');
}

async function startSirv(folder: string, lifetime: Lifetime): Promise<Contender> {
  const port = await freePort();
  const options = JSON.stringify({ folder, port });
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawnGuarded(process.execPath, [...typescript('bench/load/sirv-server.ts'), options], env);
  lifetime.add(child.stop);
  const origin = `http://127.0.0.1:${port}`;
  let ended = false;
  void child.exited.then(() => {
    ended = true;
  });
  await waitFor(async () => ended || (await fetch(`${origin}/`)).ok, { describe: 'answered by sirv' });
  if (ended) throw new Error(`sirv exited during startup: ${child.output()}`);
  return { origin, pids: await withDescendants(child.process.pid ?? 0) };
}
