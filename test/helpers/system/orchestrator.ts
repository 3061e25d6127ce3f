import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type SiteState, siteState } from '../../../contract/site-state.ts';
import { signContentful } from '../../api/sources/vendors/contentful.ts';
import { freePort } from '../free-port.ts';
import type { Program, Programs } from './programs.ts';
import { waitFor } from './wait-for.ts';

/** A site of galley.yaml. */
export interface SiteSetup {
  name: string;
  domain: string;
  /** Keys of its section `export`; deployments are added. */
  export?: Readonly<Record<string, string>>;
  /** Its agent rules as galley.yaml has them, and the project that they prompt. */
  agent?: readonly Readonly<Record<string, unknown>>[];
  projectId?: string;
}

export interface OrchestratorOptions {
  /** An empty folder for galley.yaml, the values files and each program's GALLEY_HOME. */
  folder: string;
  programs: Programs;
  sites: readonly SiteSetup[];
  temporalAddress: string;
  adminApi: { url: string; key: string };
  /** For every program, such as MIN_REFRESH_INTERVAL. */
  variables?: Readonly<Record<string, string>>;
  /** Further sections of galley.yaml: `smtp`, `forge`, `operators`. */
  sections?: Readonly<Record<string, unknown>>;
}

export interface Orchestrator {
  url: string;
  /** Sends a Contentful delivery, signed by Contentful's own package. */
  publish(site: string, title?: string): Promise<Response>;
  /** What `GET /sites/{site}` answers once the site's workflow itself has answered in time. */
  state(site: string): Promise<SiteState>;
  /** Ends the site, as an operator does. */
  remove(site: string): Promise<Response>;
  /** Waits until the site is in this phase and returns its state. */
  untilPhase(site: string, phase: SiteState['phase']): Promise<SiteState>;
  valuesFile(site: string): string;
  /** Writes galley.yaml anew; programs read it when they are started again. */
  configure(sites: readonly SiteSetup[]): Promise<void>;
  /** Serves the site's values file by a `galley deployment` named `deployment-{site}`. */
  deploy(site: string): Promise<Program>;
  /** Status and text of a page as the deployment serves it now. */
  served(site: string, path?: string): Promise<string>;
  /** Waits until the deployment serves a page that says this. */
  untilServed(site: string, text: string, path?: string): Promise<void>;
}

export const OPERATOR_TOKEN = 'operator-token-of-the-tests';

/** Contentful's secrets have 64 characters. */
export const CONTENTFUL_SECRET = 'c0ffee'.repeat(10).concat('c0ff');

/** Signs what the embedded forge tells of pull requests. */
export const FORGE_SECRET = 'webhook-secret-of-the-forge';

/** Starts `galley api` and `galley worker` (programs `api` and `worker`) on a galley.yaml with these sites. */
export async function startOrchestrator(options: OrchestratorOptions): Promise<Orchestrator> {
  const { folder, programs, sites, sections = {} } = options;
  const valuesFile = (site: string): string => join(folder, `${site}.values.yaml`);
  const config = join(folder, 'galley.yaml');
  await writeFile(config, galleyYaml(sites, sections, valuesFile));
  for (const { name } of sites) await writeFile(valuesFile(name), '# of the tests\nstaticExport:\n  enabled: false\n');
  const port = await freePort();
  const variables = {
    // The worker's mails name the receiver, which is another process.
    API_PUBLIC_URL: `http://127.0.0.1:${port}`,
    UNSUBSCRIBE_SECRET: 'unsubscribe-secret-of-the-tests',
    ...options.variables,
    GALLEY_CONFIG: config,
    TEMPORAL_ADDRESS: options.temporalAddress,
    ADMIN_API_URL: options.adminApi.url,
    ADMIN_API_KEY: options.adminApi.key,
    OPERATOR_TOKEN,
  };
  const home = (name: string): Record<string, string> => ({ GALLEY_HOME: join(folder, 'homes', name) });
  const [api] = await Promise.all([
    programs.start({ name: 'api', args: ['api'], variables: { ...variables, ...home('api'), PORT: String(port) } }),
    programs.start({ name: 'worker', args: ['worker'], variables: { ...variables, ...home('worker') } }),
  ]);

  const served = async (site: string, path = '/'): Promise<string> => {
    const { url } = programs.get(`deployment-${site}`);
    const answer = await fetch(url + path);
    return `${answer.status} ${await answer.text()}`;
  };

  const answerOf = async (site: string): Promise<SiteState | false> => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const answer = await fetch(`${api.url}/sites/${site}`, { headers });
    const body: unknown = await answer.json();
    if (answer.status !== 200) throw new Error(`GET /sites/${site}: ${answer.status} ${JSON.stringify(body)}`);
    // On a busy machine Temporal's own record may stand in, and it knows neither jobs nor errors.
    const { current, ...state } = siteState.extend({ current: z.boolean() }).parse(body);
    return current && state;
  };
  const state = async (site: string): Promise<SiteState> =>
    await waitFor(async () => await answerOf(site), { describe: `the workflow of ${site} answered` });

  return {
    url: api.url,
    valuesFile,
    configure: async (changed) => await writeFile(config, galleyYaml(changed, sections, valuesFile)),
    publish: async (site, title = 'An entry') => {
      const path = `/webhooks/${site}/contentful`;
      const body = JSON.stringify(contentfulEntry(title));
      const headers = signContentful({ secret: CONTENTFUL_SECRET, body, path, at: new Date() });
      return await fetch(api.url + path, { method: 'POST', headers, body });
    },
    state,
    remove: async (site) => {
      const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
      return await fetch(`${api.url}/sites/${site}`, { method: 'DELETE', headers });
    },
    untilPhase: async (site, phase) => {
      const probe = async (): Promise<SiteState | false> => {
        const found = await state(site);
        return found.phase === phase && found;
      };
      return await waitFor(probe, { describe: `reached the phase ${phase}` });
    },
    deploy: async (site) =>
      await programs.start({
        name: `deployment-${site}`,
        args: ['deployment', '--values', valuesFile(site)],
        variables: { ...home(`deployment-${site}`), DEPLOYMENT_PORT: String(await freePort()) },
      }),
    served,
    untilServed: async (site, text, path) => {
      const describe = `served "${text}"`;
      await waitFor(async () => (await served(site, path)).includes(text), { describe });
    },
  };
}

function galleyYaml(
  sites: readonly SiteSetup[],
  sections: Readonly<Record<string, unknown>>,
  valuesFile: (site: string) => string,
): string {
  const all = sites.map(({ name, domain, export: settings, agent, projectId }) => [
    name,
    {
      domain,
      ...(agent === undefined ? {} : { agent, projectId }),
      webhooks: {
        contentful: { secret: CONTENTFUL_SECRET },
        ...(agent === undefined ? {} : { github: { secret: FORGE_SECRET } }),
      },
      export: { ...settings, deployments: [{ valuesFile: valuesFile(name) }] },
    },
  ]);
  // JSON is YAML.
  return JSON.stringify({ ...sections, sites: Object.fromEntries(all) }, null, 2);
}

function contentfulEntry(title: string): unknown {
  return {
    sys: { type: 'Entry', id: randomUUID(), updatedAt: new Date().toISOString() },
    fields: { title: { 'en-US': title } },
  };
}
