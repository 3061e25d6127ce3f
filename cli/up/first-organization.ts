import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { Admin } from '../admin/admin.ts';
import type { Home } from '../home.ts';

const ORGANIZATION = 'galley';
const KEY_FILE = 'admin-api-key';

interface Platform {
  admin: Admin;
  /** Where its Admin API answers. */
  url: string;
  home: Home;
}

/** The key with which the orchestrator calls the embedded platform: kept in GALLEY_HOME, made where it is missing or refused. */
export async function ensureAdminKey({ admin, url, home }: Platform): Promise<string> {
  const kept = await home.readSecret(KEY_FILE);
  if (kept !== undefined && (await isAccepted(url, kept))) return kept;
  const { key } = await admin.createKey({ organization: ORGANIZATION, plan: 'enterprise', name: 'orchestrator of up' });
  await home.writeSecret(KEY_FILE, key);
  return key;
}

/** A project for each site that has none yet. What an operator changed of one (its origin, say) stays. */
export async function ensureProjects({ admin }: Pick<Platform, 'admin'>, sites: GalleyConfig['sites']): Promise<void> {
  const known = await admin.listProjects({ organization: ORGANIZATION });
  for (const [name, { domain, projectId }] of Object.entries(sites)) {
    if (known.some((project) => project.domain === domain)) continue;
    const id = projectId ?? defaultProjectId(name);
    if (known.some(({ project }) => project === id)) await admin.setProject({ project: id, domain });
    else await admin.addProject({ organization: ORGANIZATION, project: id, domain });
  }
}

/** An id may have 60 characters after its prefix, a site's name 63. */
export function defaultProjectId(site: string): string {
  return `prj_${site.slice(0, 60)}`;
}

async function isAccepted(platformUrl: string, key: string): Promise<boolean> {
  const response = await fetch(new URL('/v1/static-export/jobs?limit=1', platformUrl), {
    headers: { authorization: `Bearer ${key}` },
  });
  await response.arrayBuffer();
  return response.ok;
}
