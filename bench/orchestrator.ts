import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../test/helpers/free-port.ts';
import type { Program, Programs } from '../test/helpers/system/programs.ts';
import { BENCH_SECRET } from './load/signed-delivery.ts';

export interface OrchestratorConfiguration {
  /** Holds galley.yaml, the values files and each program's state. */
  folder: string;
  temporalAddress: string;
  sites: readonly string[];
  /** Each site's section `export`. */
  exportSettings: Readonly<Record<string, unknown>>;
  adminApi: { url: string; key: string };
  /** Content of each values file before the first deploy. */
  values?: string;
}

export interface OrchestratorSetup extends OrchestratorConfiguration {
  programs: Programs;
  /** Whether `galley worker` runs. */
  worker: boolean;
}

/** The only values file of a site. */
export function valuesFileOf(folder: string, site: string): string {
  return join(folder, `${site}.values.yaml`);
}

/** Writes galley.yaml and a values file for each site, and returns the variables that the programs need. */
export async function configureOrchestrator(setup: OrchestratorConfiguration): Promise<Record<string, string>> {
  const { folder, sites, adminApi, values = 'staticExport:\n  enabled: false\n' } = setup;
  const config = join(folder, 'galley.yaml');
  const section = (site: string): object => ({
    domain: `${site}.example.com`,
    webhooks: { standard: { secret: BENCH_SECRET } },
    export: { ...setup.exportSettings, deployments: [{ valuesFile: valuesFileOf(folder, site) }] },
  });
  // JSON is YAML.
  await writeFile(config, JSON.stringify({ sites: Object.fromEntries(sites.map((site) => [site, section(site)])) }));
  for (const site of sites) await writeFile(valuesFileOf(folder, site), values);
  return {
    GALLEY_CONFIG: config,
    TEMPORAL_ADDRESS: setup.temporalAddress,
    ADMIN_API_URL: adminApi.url,
    ADMIN_API_KEY: adminApi.key,
  };
}

/** Starts `galley api` and, if requested, `galley worker`, in separate processes as in production. */
export async function startOrchestrator(
  setup: OrchestratorSetup,
): Promise<{ api: Program; worker: Program | undefined }> {
  const { folder, programs } = setup;
  const variables = await configureOrchestrator(setup);
  const start = (name: string, more: Record<string, string>): Promise<Program> =>
    programs.start({ name, args: [name], variables: { ...variables, GALLEY_HOME: join(folder, name), ...more } });
  const [api, worker] = await Promise.all([
    start('api', { PORT: String(await freePort()) }),
    setup.worker ? start('worker', {}) : undefined,
  ]);
  return { api, worker };
}
