import { type GalleyConfig, PROJECT_KEYS, type SiteConfig } from '../../contract/galley-config.ts';
import type { Admin } from '../../platform/admin/admin.ts';

/** The first organization, of sites whose Admin API is Galley's own. */
export const OWN_ORGANIZATION = 'galley';

/**
 * Creates missing projects of sites; returns the sites with their project ids. A project gets the site's `origin`, and
 * the project's settings of its `export`. What galley.yaml doesn't name stays as an operator set it: a domain has one project.
 */
export async function ensureProjects(
  admin: Admin,
  sites: GalleyConfig['sites'],
  organization?: string,
): Promise<GalleyConfig['sites']> {
  const ensured: [string, SiteConfig][] = [];
  for (const [name, site] of Object.entries(sites)) {
    const { domain, origin, projectId, export: exported } = site;
    const { search, markdown, prove } = exported;
    const project = { domain, origin, settings: { search, markdown, prove }, id: projectId ?? projectIdOf(name) };
    ensured.push([name, { ...site, projectId: await ensureProject(admin, { ...project, organization }) }]);
  }
  return Object.fromEntries(ensured);
}

/** What galley.yaml may set of a project. */
type OwnSettings = Pick<SiteConfig['export'], (typeof PROJECT_KEYS)[number]>;

/** The id of the organization's project of that domain; creates the project, or moves one to the domain. */
export async function ensureProject(
  admin: Admin,
  given: {
    domain: string;
    origin?: string | undefined;
    settings?: OwnSettings;
    id?: string;
    organization?: string | undefined;
  },
): Promise<string> {
  const { domain, origin, settings = {}, id = projectIdOf(domain), organization = OWN_ORGANIZATION } = given;
  const named = PROJECT_KEYS.filter((key) => settings[key] !== undefined);
  const change = {
    ...(origin === undefined ? {} : { origin }),
    ...(named.length === 0 ? {} : { settings }),
  };
  const known = await admin.listProjects({ organization });
  const existing = known.find((project) => project.domain === domain);
  if (existing) {
    const isMoved = origin !== undefined && existing.origin !== origin;
    if (isMoved || named.some((key) => existing.settings[key] !== settings[key]))
      await admin.setProject({ project: existing.project, ...change });
    return existing.project;
  }
  if (known.some(({ project }) => project === id)) await admin.setProject({ project: id, domain, ...change });
  else await admin.addProject({ organization, project: id, domain, ...change });
  return id;
}

/** A project id may have 60 characters after its prefix, none of them a dot. */
function projectIdOf(name: string): string {
  return `prj_${name.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 60)}`;
}
