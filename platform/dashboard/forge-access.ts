import type { MemberAccess } from '../api/forge/access.ts';
import { listMemberships } from '../store/members.ts';
import { getProject } from '../store/projects.ts';
import { findSession, organizationCsrf } from './access.ts';
import type { DashboardContext } from './dashboard-context.ts';

/** Owners and reviewers of a pull request's organization decide about it. Developers ask for the changes. */
export function memberAccess(context: DashboardContext): { members: MemberAccess } {
  return {
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
