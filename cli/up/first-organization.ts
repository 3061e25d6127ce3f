import type { GalleyConfig, SiteConfig } from '../../contract/galley-config.ts';
import type { Admin } from '../admin/admin.ts';
import type { Home } from '../home.ts';

const ORGANIZATION = 'galley';
export const ADMIN_KEY_FILE = 'admin-api-key';

interface Platform {
  admin: Admin;
  /** Where its Admin API answers. */
  url: string;
  home: Home;
}

/** The key with which the orchestrator calls the embedded platform: kept in GALLEY_HOME, made where it is missing or refused. */
export async function ensureAdminKey({ admin, url, home }: Platform): Promise<string> {
  const kept = await home.readSecret(ADMIN_KEY_FILE);
  if (kept !== undefined && (await isAccepted(url, kept))) return kept;
  const { key } = await admin.createKey({ organization: ORGANIZATION, name: 'orchestrator of up' });
  await home.writeSecret(ADMIN_KEY_FILE, key);
  return key;
}

/**
 * A project for each site that has none yet, and the sites with the ids of theirs. What an operator changed of one (its
 * origin, its repository, say) stays, and so does its id: a domain has one project.
 */
export async function ensureProjects(admin: Admin, sites: GalleyConfig['sites']): Promise<GalleyConfig['sites']> {
  const ensured: [string, SiteConfig][] = [];
  for (const [name, site] of Object.entries(sites)) {
    const { domain, projectId } = site;
    ensured.push([
      name,
      { ...site, projectId: await ensureProject(admin, { domain, id: projectId ?? projectIdOf(name) }) },
    ]);
  }
  return Object.fromEntries(ensured);
}

/** The id of the first organization's project of that domain; made, or moved to the domain, where there is none. */
export async function ensureProject(admin: Admin, wanted: { domain: string; id?: string }): Promise<string> {
  const { domain, id = projectIdOf(wanted.domain) } = wanted;
  const known = await admin.listProjects({ organization: ORGANIZATION });
  const existing = known.find((project) => project.domain === domain);
  if (existing) return existing.project;
  if (known.some(({ project }) => project === id)) await admin.setProject({ project: id, domain });
  else await admin.addProject({ organization: ORGANIZATION, project: id, domain });
  return id;
}

/** A project's id may have 60 characters after its prefix, none of them a dot. */
function projectIdOf(name: string): string {
  return `prj_${name.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 60)}`;
}

async function isAccepted(platformUrl: string, key: string): Promise<boolean> {
  const response = await fetch(new URL('/v1/static-export/jobs?limit=1', platformUrl), {
    headers: { authorization: `Bearer ${key}` },
  });
  await response.arrayBuffer();
  return response.ok;
}
