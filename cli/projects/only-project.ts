import { loadGalleyConfig, type Sections } from '../../programs/config/galley-yaml.ts';
import { createContext } from '../../programs/process/context.ts';
import { UsageError } from '../command-error.ts';

/**
 * The project of the sites in galley.yaml, for a command that names none.
 * @throws UsageError if they have no project or several; ConfigurationError if galley.yaml is wrong.
 */
export async function onlyProject(): Promise<string> {
  const { configPath, variables } = createContext({ quiet: true }).settings;
  const { sites } = await loadGalleyConfig({ path: configPath, env: variables, select: onlyProjects });
  const projects = [...new Set(Object.values(sites).flatMap(({ projectId }) => projectId ?? []))];
  const [only] = projects;
  if (only !== undefined && projects.length === 1) return only;
  const named = projects.length === 0 ? 'galley.yaml names none' : `galley.yaml names ${projects.join(', ')}`;
  throw new UsageError(`--project: expected the project of the agent jobs; ${named}`);
}

/** Selects the sites' projects, so that only their variables must be set. */
function onlyProjects({ sites }: Sections): Sections {
  const projects = Object.entries(mapping(sites)).map(([name, site]) => {
    const { domain, projectId } = mapping(site);
    return [name, projectId === undefined ? { domain } : { domain, projectId }];
  });
  return { adminApi: { url: 'http://127.0.0.1', key: 'not-called' }, sites: Object.fromEntries(projects) };
}

function mapping(value: unknown): Sections {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
