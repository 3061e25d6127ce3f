import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from './cluster.ts';

/** Publishes to the site of the page while `during` runs, and resolves with the number of each outcome: a status or an error's code. */
export async function publishing({ run, env }: Cluster, during: () => Promise<void>): Promise<Record<string, number>> {
  const encoded = 'kubectl --namespace galley get secret galley-sites --output jsonpath={.data.PUBLISH_SECRET}';
  const secret = Buffer.from(await run(encoded), 'base64').toString();
  const sender = await readFile('test/cluster/publish.js', 'utf8');
  await run(`kubectl --namespace storage exec -i site -- sh -c 'cat >/tmp/publish.js' <<'EOF'\n${sender}EOF`);
  const url = 'http://galley-api.galley:3000/webhooks/docs/standard';
  const child = spawn(
    join(process.cwd(), 'scripts/cluster/cluster'),
    ['run', ...`kubectl --namespace storage exec -i site -- node /tmp/publish.js ${url} ${secret}`.split(' ')],
    { env, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  let output = '';
  child.stdout.on('data', (text) => {
    output += String(text);
  });
  const closed = once(child, 'close');
  await during().finally(() => child.stdin.end());
  await closed;
  return JSON.parse(output);
}
