import { z } from 'zod';
import type { Admin } from '../../platform/admin/admin.ts';
import { createdKey, keyListing } from '../../platform/admin/api-keys.ts';
import { organizationListing } from '../../platform/admin/organizations.ts';
import { projectListing, projectWithContents } from '../../platform/admin/project-requests.ts';
import { resetLink } from '../../platform/admin/reset-links.ts';
import { collectedGarbage } from '../../platform/retention/collect-garbage.ts';
import { type JsonRequest, requestJson } from '../request-json.ts';

const keyList = z.object({ keys: z.array(keyListing) });
const organizationList = z.object({ organizations: z.array(organizationListing) });
const projectList = z.object({ projects: z.array(projectListing) });
const revoked = z.object({ id: z.string(), revokedAt: z.string() });

/** Listing and measuring a large object store takes minutes. */
const GARBAGE_TIMEOUT_MS = 3_600_000;

/** Uses the admin routes of the running `up`, which alone may open the embedded database. */
export function adminOverHttp({ platformUrl, token }: { platformUrl: string; token: string }): Admin {
  type Sent = Pick<JsonRequest, 'method' | 'body' | 'timeoutMs'> & { query?: Record<string, string | undefined> };
  const ask = async <Schema extends z.ZodType>(schema: Schema, path: string, { query = {}, ...sent }: Sent = {}) => {
    const url = new URL(`/admin/${path}`, platformUrl);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    return schema.parse(await requestJson({ url, token, ...sent }));
  };
  return {
    createKey: (body) => ask(createdKey, 'keys', { method: 'POST', body }),
    listKeys: async (query) => (await ask(keyList, 'keys', { query })).keys,
    revokeKey: (id) => ask(revoked, `keys/${encodeURIComponent(id)}/revoke`, { method: 'POST' }),
    createResetLink: (body) => ask(resetLink, 'reset-links', { method: 'POST', body }),
    setOrganization: (body) => ask(organizationListing, 'organizations', { method: 'PATCH', body }),
    listOrganizations: async () => (await ask(organizationList, 'organizations')).organizations,
    removeOrganization: (organization) =>
      ask(organizationListing, 'organizations', { method: 'DELETE', query: { organization } }),
    addProject: (body) => ask(projectListing, 'projects', { method: 'POST', body }),
    setProject: (body) => ask(projectListing, 'projects', { method: 'PATCH', body }),
    showProject: (id) => ask(projectWithContents, `projects/${encodeURIComponent(id)}`),
    moveProject: (id, body) => ask(projectListing, `projects/${encodeURIComponent(id)}/move`, { method: 'POST', body }),
    removeProject: (id, { withContents }) => {
      const query = { contents: withContents ? 'delete' : undefined };
      return ask(projectWithContents, `projects/${encodeURIComponent(id)}`, { method: 'DELETE', query });
    },
    collectGarbage: (body) => ask(collectedGarbage, 'gc', { method: 'POST', body, timeoutMs: GARBAGE_TIMEOUT_MS }),
    listProjects: async (query) => (await ask(projectList, 'projects', { query })).projects,
  };
}
