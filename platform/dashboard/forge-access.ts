import type { MemberAccess } from '../api/forge/access.ts';
import { getProject } from '../store/projects.ts';
import { findSigned } from './access.ts';
import type { DashboardContext } from './dashboard-context.ts';

/** Owners and reviewers of a pull request's organization decide about it. Developers ask for the changes. */
export function memberAccess(context: DashboardContext): { members: MemberAccess } {
  return {
    members: {
      async findReviewer(request, { projectId }) {
        const signed = await findSigned(context, request);
        if (signed?.membership === undefined || projectId === null) return undefined;
        const project = await getProject(context.db, projectId);
        const { memberships, user, csrf } = signed;
        const own = memberships.find(({ organizationId }) => organizationId === project?.organizationId);
        const mayReview = own?.role === 'owner' || own?.role === 'reviewer';
        return mayReview ? { name: user.email, csrf } : undefined;
      },
    },
  };
}
