import type { Router } from 'express';
import { HttpError } from '../../../web/http-error.ts';
import { fieldOf } from '../../../web/request.ts';
import { settingsChange } from '../../admin/project-requests.ts';
import { addProject, moveProject, removeProject, setProject, showProject } from '../../admin/projects.ts';
import { findOwnProject } from '../../api/agent/agent-job-view.ts';
import { parseInput } from '../../parse-input.ts';
import { recordAction } from '../../store/audit-log.ts';
import { newId } from '../../store/ids.ts';
import { listOrganizationProjects } from '../../store/projects.ts';
import type { DashboardContext } from '../dashboard-context.ts';
import { messagesOf, withMessage } from '../done-messages.ts';
import { PATHS, pathOf } from '../layout.tsx';
import { addConfirmed, addPage, MAKERS, OWNERS } from '../pages.tsx';
import { checkProjectOrigin } from './check-origin.ts';
import { settingsOf } from './project-form.ts';
import { MoveProjectPage, otherOwned, ProjectPage, ProjectsPage, RemoveProjectPage } from './project-pages.tsx';

/**
 * Projects. Members name the domain and the crawl settings. Origin and repository stay the operator's: an origin may be
 * a private address, and a repository is fetched with the worker's credentials.
 */
export function addProjectRoutes(router: Router, { db }: DashboardContext): void {
  addPage(router, {
    path: PATHS.projects,
    async show(request, signed) {
      const projects = await listOrganizationProjects(db, signed.caller.organizationId);
      return <ProjectsPage signed={signed} messages={messagesOf(request)} projects={projects} />;
    },
    actors: MAKERS,
    async act(request, { caller, membership }) {
      const { organization } = membership;
      // Not the member's choice: ids are unique among all organizations, and a refused one would show that it is taken.
      const wanted = { organization, project: newId.project(), domain: fieldOf(request, 'domain') };
      const { project, domain } = await addProject(db, wanted);
      await recordAction(db, { ...caller, action: 'project.add', target: project, detail: domain });
      return withMessage(pathOf('projects', project), 'project-added');
    },
  });
  addPage(router, {
    path: `${PATHS.projects}/:projectId`,
    async show(request, signed) {
      const project = await findOwnProject(db, signed.caller, request.params.projectId);
      return <ProjectPage signed={signed} messages={messagesOf(request)} project={project} />;
    },
    actors: MAKERS,
    async act(request, { caller }) {
      const project = await findOwnProject(db, caller, request.params.projectId);
      const settings = parseInput(settingsChange, settingsOf(request));
      await setProject(db, { project: project.id, domain: fieldOf(request, 'domain'), settings });
      await recordAction(db, { ...caller, action: 'project.set', target: project.id, detail: project.domain });
      return withMessage(pathOf('projects', project.id), 'project-saved');
    },
  });
  // It only reads, so it is a page, which can be loaded again.
  addPage(router, {
    path: `${PATHS.projects}/:projectId/check`,
    roles: MAKERS,
    async show(request, signed) {
      const project = await findOwnProject(db, signed.caller, request.params.projectId);
      return <ProjectPage signed={signed} project={project} findings={await checkProjectOrigin(project)} />;
    },
  });
  addConfirmed(router, `${PATHS.projects}/:projectId/remove`, OWNERS, {
    async show(request, signed) {
      const { id } = await findOwnProject(db, signed.caller, request.params.projectId);
      return <RemoveProjectPage signed={signed} project={await showProject(db, id)} />;
    },
    async act(request, { caller }) {
      const { id, domain } = await findOwnProject(db, caller, request.params.projectId);
      if (fieldOf(request, 'domain').trim() !== domain)
        throw new HttpError(400, `domain: expected ${domain}, whose project is removed`);
      await removeProject(db, id, { withContents: true, actor: caller.actor });
      return withMessage(PATHS.projects, 'project-removed');
    },
  });
  addConfirmed(router, `${PATHS.projects}/:projectId/move`, OWNERS, {
    async show(request, signed) {
      const project = await findOwnProject(db, signed.caller, request.params.projectId);
      return <MoveProjectPage signed={signed} project={project} />;
    },
    async act(request, signed) {
      const { caller } = signed;
      const { id } = await findOwnProject(db, caller, request.params.projectId);
      const organization = fieldOf(request, 'organization');
      // Only its owner may give an organization something.
      if (!otherOwned(signed).includes(organization))
        throw new HttpError(403, 'organization: expected another one that you own');
      await moveProject(db, id, { organization, actor: caller.actor });
      return withMessage(PATHS.projects, 'project-moved');
    },
  });
}
