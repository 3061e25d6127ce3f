import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { webhooksSection } from '../../api/webhooks/registry.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { type DeploymentConfig, deploymentPlace, targetOf } from '../../contract/deployment-config.ts';
import { type GalleyConfig, galleyConfigSchema } from '../../contract/galley-config.ts';
import { TARGETS } from '../../contract/target-kind.ts';
import { describeIssue, expectation } from './messages.ts';
import { type ConfigDocument, type ConfigPath, type Environment, interpolate, parseConfigDocument } from './yaml.ts';

/** galley.yaml with the settings of every webhook source. */
export const galleyConfig = galleyConfigSchema(webhooksSection);

type LoadGalleyConfigOptions = {
  /** The path of galley.yaml; undefined: no sites. */
  path: string | undefined;
  /** Values for `${VAR}`. */
  env: Environment;
  /** Selects the part of the file that a command needs, so that only its variables are required. */
  select?: (sections: Sections) => Sections;
};

/** The root of galley.yaml, neither interpolated nor checked. */
export type Sections = Readonly<Record<string, unknown>>;

/** Defaults of missing sections, before interpolation. */
const DEFAULT_SECTIONS = { adminApi: { url: `\${ADMIN_API_URL}`, key: `\${ADMIN_API_KEY}` } } as const;

/**
 * The galley.yaml of a program that serves sites. A missing file usually means a wrong folder, so running without sites
 * needs `--no-config`.
 * @param options commander's result for `--no-config`
 * @throws ConfigurationError naming the path.
 */
export function requireConfigPath(path: string | undefined, options: { config: boolean }): string | undefined {
  if (!options.config) return undefined;
  if (path !== undefined) return path;
  throw new ConfigurationError([
    `GALLEY_CONFIG: expected a configuration file, but there is none at ${resolve('galley.yaml')}; --no-config runs without sites`,
  ]);
}

/**
 * Reads, interpolates and validates galley.yaml. Paths of deployments are relative to its folder and come back
 * absolute. Throws ConfigurationError with one line per problem, each naming its key and line.
 */
export async function loadGalleyConfig({ path, ...options }: LoadGalleyConfigOptions): Promise<GalleyConfig> {
  if (path === undefined) return withoutFile(options.env);
  const file = resolve(path);
  return parseGalleyConfig({ text: await readConfig(file), file, ...options });
}

/** Does the same as loadGalleyConfig for a text; `file` is its name in messages and the base of relative paths. */
export function parseGalleyConfig({
  text,
  file,
  env,
  select = (sections) => sections,
}: Omit<LoadGalleyConfigOptions, 'path'> & { text: string; file: string }): GalleyConfig {
  const document = parseConfigDocument(text, basename(file));
  const { value, problems } = interpolate(select({ ...DEFAULT_SECTIONS, ...document.value }), env);
  const parsed = galleyConfig.safeParse(value, { error: expectation });
  const unfilled = new Set(problems.map(({ path }) => path.join('.')));
  const issues = (parsed.error?.issues ?? [])
    .filter(({ path }) => !unfilled.has(path.join('.')))
    .flatMap((issue) => describeIssue(issue, galleyConfig));
  throwProblems(document, [...problems, ...issues]);
  if (!parsed.success) throw new ConfigurationError([`${basename(file)}: not a valid configuration`]);
  const config = withAbsolutePaths(parsed.data, dirname(file));
  throwProblems(document, [...sharedDeployments(config), ...sharedNames(config), ...missingProjects(config)]);
  return config;
}

type ConfigProblem = { path: ConfigPath; message: string };

function throwProblems(document: ConfigDocument, problems: readonly ConfigProblem[]): void {
  if (problems.length === 0) return;
  throw new ConfigurationError(
    problems.map(({ path, message }) => `${path.join('.') || 'galley.yaml'}: ${message}${document.place(path)}`),
  );
}

async function readConfig(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const reason = typeof error === 'object' && error !== null && 'code' in error ? error.code : 'unreadable';
    throw new ConfigurationError([`GALLEY_CONFIG: expected a readable file at ${file} (${reason})`]);
  }
}

/** The configuration if there is no file: without sites, nothing calls the Admin API, so no URL or key is required. */
function withoutFile(env: Environment): GalleyConfig {
  const adminApi = {
    url: env.ADMIN_API_URL ?? 'http://127.0.0.1:3100',
    key: env.ADMIN_API_KEY ?? '',
    staticExport: 'auto',
  } as const;
  return { adminApi, operators: [], notify: [], sites: {} };
}

function withAbsolutePaths(config: GalleyConfig, folder: string): GalleyConfig {
  const sites = Object.entries(config.sites).map(([name, site]) => {
    const deployments = site.export.deployments.map((deployment) => withAbsolutePath(deployment, folder));
    return [name, { ...site, export: { ...site.export, deployments } }] as const;
  });
  return { ...config, sites: Object.fromEntries(sites) };
}

function withAbsolutePath(deployment: DeploymentConfig, folder: string): DeploymentConfig {
  const { kind, settings } = targetOf(deployment);
  const isPath = TARGETS[kind].isOnDisk && typeof settings === 'string';
  return isPath ? { ...deployment, [kind]: resolve(folder, settings) } : deployment;
}

/**
 * Each site's workflow is the only writer of its deployments; two sites on one would overwrite each other. Only
 * some kinds can distinguish sites.
 */
function sharedDeployments(config: GalleyConfig): ConfigProblem[] {
  const owners = new Map<string, string>();
  return Object.entries(config.sites).flatMap(([site, { export: settings }]) =>
    settings.deployments.flatMap((deployment, index) => {
      const place = deploymentPlace(deployment);
      const { kind } = targetOf(deployment);
      const owner = owners.get(place);
      if (owner === undefined) owners.set(place, site);
      if (owner === undefined || (owner !== site && TARGETS[kind].isShareable)) return [];
      const what = kind === 'valuesFile' ? 'a file' : 'a target';
      const message = `expected ${what} of its own, but site ${owner} writes it already`;
      return [{ path: ['sites', site, 'export', 'deployments', index, kind], message }];
    }),
  );
}

/** Form `project` of the Admin API names sites by their projects, and only this form has a base path. */
function missingProjects({ adminApi, sites }: GalleyConfig): ConfigProblem[] {
  return Object.entries(sites).flatMap(
    ([
      site,
      {
        projectId,
        export: { basePath },
      },
    ]) => {
      const needs = (path: string[], message: string): ConfigProblem[] => [{ path: ['sites', site, ...path], message }];
      if (adminApi.staticExport === 'project' && projectId === undefined)
        return needs(['projectId'], "expected the project's id, which form project of adminApi.staticExport needs");
      if (adminApi.staticExport === 'domain' && basePath !== undefined)
        return needs(['export', 'basePath'], 'expected none: form domain of adminApi.staticExport has no base path');
      return [];
    },
  );
}

/** People choose a deployment by its name, which is its place if it has none. */
function sharedNames(config: GalleyConfig): ConfigProblem[] {
  return Object.entries(config.sites).flatMap(([site, settings]) => {
    const { deployments } = settings.export;
    const taken = new Set(deployments.filter(({ name }) => name === undefined).map(deploymentPlace));
    return deployments.flatMap(({ name }, index) => {
      if (name === undefined) return [];
      const isFree = !taken.has(name);
      taken.add(name);
      if (isFree) return [];
      const message = 'expected a name of its own, but another deployment of the site has it';
      return [{ path: ['sites', site, 'export', 'deployments', index, 'name'], message }];
    });
  });
}
