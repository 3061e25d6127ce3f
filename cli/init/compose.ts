import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { parseDocument } from 'yaml';
import { replaceFile } from '../../base/replace-file.ts';
import { localValuesFiles } from '../../contract/deployment-config.ts';
import { makeApiKey } from '../../platform/admin/api-key-text.ts';
import { parseGalleyConfig } from '../../programs/config/galley-yaml.ts';
import { readEnvFile } from '../../programs/settings/env-file.ts';
import type { Variables } from '../../programs/settings/environment.ts';
import { UsageError } from '../command-error.ts';
import { type Answers, newSecret, secretVariable } from './answers.ts';
import { readOptional, withVariables } from './env-text.ts';
import { addressOfThisMachine } from './from-options.ts';
import { renderConfig } from './render-config.ts';

/** What `init --compose` wrote or found. */
export interface ComposeFiles {
  /** The files that changed; empty: everything was there. */
  written: string[];
  /** The file and the variable that hold the webhook's secret. */
  envFile: string;
  variable: string;
}

/**
 * Writes what docker-compose.yml reads: galley.yaml and beside it .env, sites.env and agent.env. What is there stays: a
 * second run changes nothing, and another site is added to galley.yaml.
 * @throws UsageError if galley.yaml has that site with another domain
 */
export async function writeCompose(configFile: string, answers: Answers): Promise<ComposeFiles> {
  const file = (name: string): string => join(dirname(configFile), name);
  const [env, sites] = [readEnvFile(file('.env')), readEnvFile(file('sites.env'))];
  const before = { text: await readOptional(configFile), file: configFile, env: sites };
  const { config, variable } = withSite(before, answers);
  const ofServices = missing(servicesVariables(answers), env);
  const ofSites = missing(
    { ...sitesVariables(answers), [variable]: answers.secret ?? newSecret(answers.source) },
    sites,
  );
  // A mistake of ours must not become the operator's file.
  const { sites: configured } = parseGalleyConfig({ text: config, file: configFile, env: { ...ofSites, ...sites } });
  // Who serves other files than those of galley.yaml keeps them until a site is added.
  const isServed = env.DEPLOYMENT_VALUES !== undefined && config === before.text;
  if (!isServed) ofServices.DEPLOYMENT_VALUES = valuesOf(configured);

  const texts = {
    '.env': withVariables((await readOptional(file('.env'))) ?? HEADS.env, ofServices),
    'sites.env': withVariables((await readOptional(file('sites.env'))) ?? HEADS.sites, ofSites),
    'agent.env': (await readOptional(file('agent.env'))) ?? HEADS.agent,
  };
  const written: string[] = [];
  const write = async (path: string, text: string, mode: number): Promise<void> => {
    if ((await readOptional(path)) === text) return;
    await replaceFile(path, text, { mode });
    written.push(path);
  };
  for (const [name, text] of Object.entries(texts)) await write(file(name), text, 0o600);
  await write(configFile, config, 0o644);
  return { written, envFile: file('sites.env'), variable };
}

const HEADS = {
  env: '# Read by docker compose: passwords of the services. Keep it out of version control.\n',
  sites: '# The variables that galley.yaml names: deploy/sites.env.example explains them.\n',
  agent: '# The variables of agents: deploy/agent.env.example explains them.\n',
} as const;

/** Letters and digits only, because some are parts of URLs. */
const password = (): string => randomBytes(24).toString('hex');

function servicesVariables({ adminApi, publicHost }: Answers): Record<string, string> {
  return {
    COMPOSE_PROFILES: adminApi === undefined ? 'platform' : '',
    TEMPORAL_POSTGRES_PASSWORD: password(),
    POSTGRES_PASSWORD: password(),
    S3_ACCESS_KEY: password(),
    S3_SECRET_KEY: password(),
    S3_PUBLIC_URL: `http://${publicHost ?? addressOfThisMachine()}:7070`,
    OPERATOR_TOKEN: password(),
  };
}

function sitesVariables({ adminApi, publicUrl }: Answers): Record<string, string> {
  return {
    ADMIN_API_URL: adminApi?.url ?? 'http://platform:3100',
    ADMIN_API_KEY: adminApi?.key ?? makeApiKey(),
    UNSUBSCRIBE_SECRET: password(),
    ...(publicUrl !== undefined && { API_PUBLIC_URL: publicUrl }),
  };
}

function missing(
  variables: Record<string, string>,
  known: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => known[name] === undefined));
}

interface WithSite {
  /** The text of galley.yaml. */
  config: string;
  /** Of the webhook's secret. */
  variable: string;
}

/** The options of the service `deployment`, which has the folder of the sites' values files as /values. */
function valuesOf(sites: ReturnType<typeof parseGalleyConfig>['sites']): string {
  const served = Object.values(sites).flatMap(({ domain, export: { deployments } }) =>
    localValuesFiles(deployments).map((file) => ({ domain, path: `/values/${basename(file)}` })),
  );
  const isOne = served.length === 1;
  return served.map(({ domain, path }) => `--values ${isOne ? path : `${domain}=${path}`}`).join(' ');
}

/** galley.yaml with the site of the answers; all else in it stays, with its comments. */
function withSite(
  { text, file, env }: { text: string | undefined; file: string; env: Variables },
  answers: Answers,
): WithSite {
  const { site, domain, source, adminApi } = answers;
  const common = secretVariable(source);
  // Agent rules need the project's id: `projects sync` makes a project with this one.
  const projectId = adminApi === undefined ? `prj_${site}` : adminApi.projectId;
  if (text === undefined) {
    return { config: renderConfig({ ...answers, projectId, variable: common }), variable: common };
  }
  const { sites } = parseGalleyConfig({ text, file, env });
  const variable = `${site.toUpperCase().replaceAll('-', '_')}_${common}`;
  const found = sites[site];
  if (found !== undefined) {
    if (found.domain !== domain)
      throw new UsageError(`--site: galley.yaml has ${site} with the domain ${found.domain}: expected another name`);
    return { config: text, variable: env[variable] === undefined ? common : variable };
  }
  const document = parseDocument(text);
  const one = parseDocument(renderConfig({ ...answers, projectId, variable }));
  document.setIn(['sites', site], one.getIn(['sites', site], true));
  return { config: document.toString({ lineWidth: 0 }), variable };
}
