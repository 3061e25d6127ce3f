import { z } from 'zod';
import type { Admin } from '../../platform/admin/admin.ts';
import { createdKey, keyListing } from '../../platform/admin/api-keys.ts';
import { organizationListing } from '../../platform/admin/organizations.ts';
import { projectListing, projectWithContents } from '../../platform/admin/project-requests.ts';
import { resetLink } from '../../platform/admin/reset-links.ts';
import { requestJson } from '../request-json.ts';

const keyList = z.object({ keys: z.array(keyListing) });
const projectList = z.object({ projects: z.array(projectListing) });
const revoked = z.object({ id: z.string(), revokedAt: z.string() });

/** Uses the admin routes of the running `up`, which alone may open the embedded database. */
export function adminOverHttp({ platformUrl, token }: { platformUrl: string; token: string }): Admin {
  const at = (path: string, organization?: string): URL => {
    const url = new URL(path, platformUrl);
    if (organization !== undefined) url.searchParams.set('organization', organization);
    return url;
  };
  return {
    createKey: async (body) =>
      createdKey.parse(await requestJson({ url: at('/admin/keys'), token, method: 'POST', body })),
    listKeys: async ({ organization }) =>
      keyList.parse(await requestJson({ url: at('/admin/keys', organization), token })).keys,
    revokeKey: async (id) =>
      revoked.parse(
        await requestJson({ url: at(`/admin/keys/${encodeURIComponent(id)}/revoke`), token, method: 'POST' }),
      ),
    createResetLink: async (body) =>
      resetLink.parse(await requestJson({ url: at('/admin/reset-links'), token, method: 'POST', body })),
    setOrganization: async (body) =>
      organizationListing.parse(await requestJson({ url: at('/admin/organizations'), token, method: 'PATCH', body })),
    addProject: async (body) =>
      projectListing.parse(await requestJson({ url: at('/admin/projects'), token, method: 'POST', body })),
    setProject: async (body) =>
      projectListing.parse(await requestJson({ url: at('/admin/projects'), token, method: 'PATCH', body })),
    showProject: async (id) =>
      projectWithContents.parse(await requestJson({ url: at(`/admin/projects/${encodeURIComponent(id)}`), token })),
    removeProject: async (id, { withContents }) => {
      const url = at(`/admin/projects/${encodeURIComponent(id)}`);
      if (withContents) url.searchParams.set('contents', 'delete');
      return projectWithContents.parse(await requestJson({ url, token, method: 'DELETE' }));
    },
    listProjects: async ({ organization }) =>
      projectList.parse(await requestJson({ url: at('/admin/projects', organization), token })).projects,
  };
}
