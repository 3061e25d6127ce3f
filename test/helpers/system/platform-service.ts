import { join } from 'node:path';
import { z } from 'zod';
import { createAdminApiClient, type ExportJob } from '../../../client/admin-api-client.ts';
import { freePort } from '../free-port.ts';
import type { Programs } from './programs.ts';
import { runToEnd } from './run-to-end.ts';

export interface PlatformOptions {
  folder: string;
  programs: Programs;
  galley: string;
  databaseUrl: string;
  temporalAddress: string;
  /** `file:///…` or `s3://…`. */
  objectStoreUrl: string;
  /** Agents run in a program of their own, `agent-worker`. */
  agentsApart?: boolean;
  variables?: Readonly<Record<string, string>>;
}

export interface PlatformService {
  url: string;
  /** The URL in links and pages. */
  publicUrl: string;
  createKey(): Promise<{ id: string; key: string }>;
  revokeKey(id: string): Promise<void>;
  addProject(project: { name: string; domain: string; origin: string; repository?: string }): Promise<void>;
  /** Every export job of a domain, newest first, from the list endpoint. */
  jobs(domain: string, key: string): Promise<ExportJob[]>;
}

const ORGANIZATION = 'Tests';
const createdKey = z.object({ id: z.string(), key: z.string() });

/** Starts `galley platform` and one of each of its workers on PostgreSQL. */
export async function startPlatformService(options: PlatformOptions): Promise<PlatformService> {
  const { folder, programs, galley, agentsApart = false } = options;
  const port = String(await freePort());
  const variables = {
    // Differs from the name it listens on, so that tests can check which one a link has.
    PLATFORM_PUBLIC_URL: `http://localhost:${port}`,
    ...options.variables,
    GALLEY_HOME: join(folder, 'homes', 'platform'),
    DATABASE_URL: options.databaseUrl,
    OBJECT_STORE_URL: options.objectStoreUrl,
    TEMPORAL_ADDRESS: options.temporalAddress,
    PLATFORM_PORT: port,
  };
  const [{ url }] = await Promise.all([
    programs.start({ name: 'platform', args: ['platform'], variables }),
    programs.start({
      name: 'platform-worker',
      args: ['platform-worker', ...(agentsApart ? ['--no-agents'] : [])],
      variables,
    }),
    ...(agentsApart ? [programs.start({ name: 'agent-worker', args: ['agent-worker'], variables })] : []),
  ]);
  const command = async (...args: string[]): Promise<string> => await runToEnd(galley, args, variables);

  return {
    url,
    publicUrl: variables.PLATFORM_PUBLIC_URL,
    createKey: async () =>
      createdKey.parse(JSON.parse(await command('keys', 'create', '--organization', ORGANIZATION, '--json'))),
    revokeKey: async (id) => {
      await command('keys', 'revoke', id);
    },
    addProject: async ({ name, domain, origin, repository }) => {
      const project = ['--project', `prj_${name}`, '--domain', domain, '--origin', origin];
      const sources = repository === undefined ? [] : ['--repository', repository];
      await command('projects', 'add', '--organization', ORGANIZATION, ...project, ...sources, '--json');
    },
    jobs: async (domain, key) =>
      (await createAdminApiClient({ url, key }).exports.list({ domain, limit: 100 }).page()).jobs,
  };
}
