import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type SiteState, siteState } from '../../../contract/site-state.ts';
import { freePort } from '../free-port.ts';
import { signContentful } from '../sign-contentful.ts';
import type { Program, Programs } from './programs.ts';
import { waitFor } from './wait-for.ts';

/** A site of galley.yaml. */
export interface SiteSetup {
  name: string;
  domain: string;
  /** Its section `export`, without the deployments. */
  export?: Readonly<Record<string, unknown>>;
  /** More keys of the entry of its values file, such as its `statusUrl`. */
  target?: Readonly<Record<string, unknown>>;
  /** More deployments than its values file. */
  deployments?: readonly Readonly<Record<string, unknown>>[];
  /** Its agent rules in galley.yaml. */
  agent?: readonly Readonly<Record<string, unknown>>[];
  /** The project that rules prompt, and that form `project` exports. */
  projectId?: string;
}

export interface OrchestratorOptions {
  /** An empty folder for galley.yaml, the values files and each program's GALLEY_HOME. */
  folder: string;
  programs: Programs;
  sites: readonly SiteSetup[];
  temporalAddress: string;
  adminApi: { url: string; key: string };
  /** Variables of every program, such as MIN_REFRESH_INTERVAL. */
  variables?: Readonly<Record<string, string>>;
  /** Further sections of galley.yaml: `smtp`, `forge`, `operators`. */
  sections?: Readonly<Record<string, unknown>>;
}

export interface Orchestrator {
  url: string;
  /** Sends a Contentful delivery, signed with Contentful's own package. One with the same id is a resend. */
  publish(site: string, title?: string, id?: string): Promise<Response>;
  /** The response of `GET /sites/{site}`, as soon as it contains the workflow's own state. */
  state(site: string): Promise<SiteState>;
  /** Removes the site, as an operator does. */
  remove(site: string): Promise<Response>;
  /** Waits until the site is in this phase and returns its state. */
  untilPhase(site: string, phase: SiteState['phase']): Promise<SiteState>;
  valuesFile(site: string): string;
  /** Rewrites galley.yaml. Programs read it when they restart. */
  configure(sites: readonly SiteSetup[]): Promise<void>;
  /** Starts a `galley deployment` of the site's values file, named `deployment-{site}`. */
  deploy(site: string, port?: number): Promise<Program>;
  /** Status and text of a page that the deployment serves. */
  served(site: string, path?: string): Promise<string>;
  /** Waits until the deployment serves a page that contains this text. */
  untilServed(site: string, text: string, path?: string): Promise<void>;
}

export const OPERATOR_TOKEN = 'operator-token-of-the-tests';

/** Contentful's secrets have 64 characters. */
export const CONTENTFUL_SECRET = 'c0ffee'.repeat(10).concat('c0ff');

/** The secret of the embedded forge's webhooks. */
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
    const response = await fetch(url + path);
    return `${response.status} ${await response.text()}`;
  };

  const currentState = async (site: string): Promise<SiteState | false> => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const response = await fetch(`${api.url}/sites/${site}`, { headers });
    const body: unknown = await response.json();
    if (response.status !== 200) throw new Error(`GET /sites/${site}: ${response.status} ${JSON.stringify(body)}`);
    // On a busy machine the response may come from Temporal's visibility, which has neither jobs nor errors.
    const { current, ...state } = siteState.extend({ current: z.boolean() }).parse(body);
    return current && state;
  };
  const state = async (site: string): Promise<SiteState> =>
    await waitFor(async () => await currentState(site), { describe: `got the state of ${site} from its workflow` });

  return {
    url: api.url,
    valuesFile,
    configure: async (changed) => await writeFile(config, galleyYaml(changed, sections, valuesFile)),
    publish: async (site, title = 'An entry', id = randomUUID()) => {
      const path = `/webhooks/${site}/contentful`;
      const body = JSON.stringify(contentfulEntry(title));
      const headers = signContentful({ secret: CONTENTFUL_SECRET, body, path, at: new Date() }, 'Entry.publish', id);
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
    deploy: async (site, listenPort) =>
      await programs.start({
        name: `deployment-${site}`,
        args: ['deployment', '--values', valuesFile(site)],
        variables: { ...home(`deployment-${site}`), DEPLOYMENT_PORT: String(listenPort ?? (await freePort())) },
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
  const all = sites.map(({ name, domain, export: settings, target, deployments = [], agent, projectId }) => [
    name,
    {
      domain,
      ...(agent === undefined ? {} : { agent }),
      ...(projectId === undefined ? {} : { projectId }),
      webhooks: {
        contentful: { secret: CONTENTFUL_SECRET },
        ...(agent === undefined ? {} : { github: { secret: FORGE_SECRET } }),
      },
      export: { ...settings, deployments: [{ valuesFile: valuesFile(name), ...target }, ...deployments] },
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
