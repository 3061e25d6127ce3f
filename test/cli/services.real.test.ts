import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { galley, startGalley } from '../helpers/galley.ts';
import { startPostgres } from '../helpers/postgres.ts';

test('the platform answers 503 while PostgreSQL is away, works when it comes back, and shares its keys with the command', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'galley-services-'));
  const postgres = await startPostgres();
  const variables = {
    PLATFORM_PORT: '0',
    GALLEY_HOME: folder,
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  };
  await postgres.kill();
  const platform = await startGalley(['platform'], variables);
  const jobs = `${/http\S+/.exec(platform.ready)?.[0]}/v1/static-export/jobs`;
  const statusWith = async (key: string): Promise<number> =>
    (await fetch(jobs, { headers: { authorization: `Bearer ${key}` } })).status;
  try {
    expect(await statusWith('galley_unknown')).toBe(503);
    await postgres.restart();
    for (let attempt = 0; attempt < 100 && (await statusWith('galley_unknown')) === 503; attempt += 1) await sleep(200);
    expect(await statusWith('galley_unknown')).toBe(401);
    const { stdout } = await galley(['keys', 'create', '--organization', 'acme', '--json'], variables);
    expect(await statusWith(JSON.parse(stdout).key)).toBe(200);
    expect((await platform.stop('SIGTERM')).code).toBe(0);
  } finally {
    await platform.stop('SIGKILL');
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}, 120_000);
