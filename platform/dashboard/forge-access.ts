import type { MemberAccess } from '../api/forge/access.ts';
import type { OpenApiContext } from '../api/openapi/routes.ts';
import { listMemberships } from '../store/members.ts';
import { getProject, listOrganizationProjects } from '../store/projects.ts';
import { findSession, findSigned, organizationCsrf } from './access.ts';
import type { DashboardContext } from './dashboard-context.ts';

/** Owners and reviewers of a pull request's organization decide about it. Developers ask for the changes. */
export function memberAccess(
  context: DashboardContext,
): { members: MemberAccess } & Pick<OpenApiContext, 'findProject'> {
  return {
    /** A project of the organization that a signed-in member looks at. */
    async findProject(request) {
      const signed = await findSigned(context, request);
      if (signed?.membership === undefined) return undefined;
      const [project] = await listOrganizationProjects(context.db, signed.membership.organizationId);
      return project;
    },
    members: {
      async findReviewer(request, { projectId }) {
        const session = await findSession(context, request);
        if (session === undefined || projectId === null) return undefined;
        const project = await getProject(context.db, projectId);
        const memberships = await listMemberships(context.db, session.user.id);
        const own = memberships.find(({ organizationId }) => organizationId === project?.organizationId);
        if (own?.role !== 'owner' && own?.role !== 'reviewer') return undefined;
        return { name: session.user.email, csrf: organizationCsrf(context, session, own.organizationId) };
      },
    },
  };
}
