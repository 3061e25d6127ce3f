import { loadGalleyConfig, type Sections } from '../../programs/config/galley-yaml.ts';
import { createContext } from '../../programs/process/context.ts';
import { openHome } from '../../programs/process/home.ts';
import { withAdmin } from '../admin/with-admin.ts';
import { UsageError } from '../command-error.ts';

/**
 * The project of the sites in galley.yaml, for a command that names none.
 * @throws UsageError if they have no project or several; ConfigurationError if galley.yaml is wrong.
 */
export async function onlyProject(): Promise<string> {
  const { configPath, variables, adminApiUrl } = createContext({ quiet: true }).settings;
  const { sites } = await loadGalleyConfig({ path: configPath, env: variables, select: onlyProjects });
  const all = Object.values(sites);
  const named = all.flatMap(({ projectId }) => projectId ?? []);
  // `galley up` makes a project for each site that names none.
  const made = adminApiUrl === undefined && named.length < all.length ? await madeByUp(all) : [];
  const projects = [...new Set([...named, ...made])];
  const [only] = projects;
  if (only !== undefined && projects.length === 1) return only;
  const which = projects.length === 0 ? 'galley.yaml names none' : `galley.yaml names ${projects.join(', ')}`;
  throw new UsageError(`--project: expected the project of the agent jobs; ${which}`);
}

/** The projects that the running `up` has for these sites; none if none runs. */
async function madeByUp(sites: readonly { domain: string; projectId?: string | undefined }[]): Promise<string[]> {
  const home = openHome(createContext({ quiet: true }).settings.home);
  if ((await home.running())?.platform == null) return [];
  const domains = sites.filter(({ projectId }) => projectId === undefined).map(({ domain }) => domain);
  const found: string[] = [];
  await withAdmin(async (admin) => {
    const projects = await admin.listProjects({});
    found.push(...projects.filter(({ domain }) => domains.includes(domain)).map(({ project }) => project));
  });
  return found;
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
