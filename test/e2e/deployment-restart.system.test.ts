import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { buildBundle, siteOf } from '../deployment/bundles.ts';
import { freePort } from '../helpers/free-port.ts';
import { type HttpSite, startHttpSite } from '../helpers/http-site.ts';
import { builtGalley } from '../helpers/system/built-product.ts';
import { createPrograms, type Programs } from '../helpers/system/programs.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const deploymentStatus = z.object({
  version: z.string().nullable(),
  stale: z.boolean(),
  lastError: z.object({ message: z.string() }).nullable(),
});

describe('a deployment process', () => {
  let folder: string;
  let store: HttpSite;
  let programs: Programs;
  const scenario = scenarios(() => ({ programs }));

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'galley-deployment-restart-'));
    const bundle = await buildBundle(siteOf('7'));
    store = await startHttpSite((_request, response) => response.end(bundle));
    programs = createPrograms(await builtGalley());
  });

  afterAll(async () => {
    await programs?.stop();
    await store?.close();
    await rm(folder, { recursive: true, force: true });
  });

  scenario('serves its last good version after a crash, while what made the bundle is away', async () => {
    const valuesFile = join(folder, 'values.yaml');
    await writeFile(valuesFile, `staticExport:\n  enabled: true\n  bundleUrl: ${store.origin}/bundle.tar.gz\n`);
    const { url } = await programs.start({
      name: 'deployment',
      args: ['deployment', '--values', valuesFile],
      variables: { GALLEY_HOME: join(folder, 'home'), DEPLOYMENT_PORT: String(await freePort()) },
    });
    const served = async (): Promise<string> => await (await fetch(`${url}/guides/start`)).text();
    await waitFor(async () => (await served()).includes('start 7'), { describe: 'served the first version' });

    await programs.kill('deployment');
    await store.close();
    await programs.restart('deployment');

    await waitFor(async () => (await served()).includes('start 7'), { describe: 'served the version again' });
    // A link that leads nowhere is tried, shown, and takes nothing away.
    await writeFile(valuesFile, `staticExport:\n  enabled: true\n  bundleUrl: ${store.origin}/newer.tar.gz\n`);
    const status = async () => deploymentStatus.parse(await (await fetch(`${url}/-/status`)).json());
    await waitFor(async () => (await status()).stale, {
      describe: 'told that it serves another bundle than it should',
    });
    expect(await status()).toMatchObject({
      version: '7',
      lastError: { message: expect.stringContaining('127.0.0.1') },
    });
    expect(await served()).toContain('start 7');
  });
});
