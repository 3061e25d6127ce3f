import type { Request, Router } from 'express';
import { promptRequest } from '../../../contract/admin-api.ts';
import { HttpError } from '../../../web/http-error.ts';
import { renderBounded } from '../../../web/render-bounded.ts';
import { fieldOf, queryOf } from '../../../web/request.ts';
import { addRoute } from '../../api/add-route.ts';
import { findOwnProject } from '../../api/agent/agent-job-view.ts';
import { createAgentJob } from '../../api/agent/create-agent-job.ts';
import { archiveEndedAgentJob, cancelAgentRun } from '../../api/agent/end-agent-job.ts';
import { messageAgentJob } from '../../api/agent/message-agent-job.ts';
import { listAgentJobsQuery } from '../../api/agent/read-agent-jobs.ts';
import { parseInput } from '../../parse-input.ts';
import { type AgentJobRow, getAgentJob } from '../../store/agent-jobs.ts';
import type { Caller } from '../../store/api-keys.ts';
import { listOrganizationProjects } from '../../store/projects.ts';
import { isStorable } from '../../store/storable-text.ts';
import { type SignedMember, signedOf } from '../access.ts';
import type { DashboardContext } from '../dashboard-context.ts';
import { messagesOf, withMessage } from '../done-messages.ts';
import { ConfirmPage, PATHS, pathOf } from '../layout.tsx';
import { addLivePart, streamPart } from '../live.ts';
import { addAction, addConfirmed, addPage, MAKERS } from '../pages.tsx';
import { createFactsReader, listTitledJobs } from './agent-facts.ts';
import { AgentList, AgentPage, AgentParts, AgentsPage } from './agent-pages.tsx';

const PAGE_SIZE = 20;

/** The pages of agent jobs. */
export function addAgentRoutes(router: Router, context: DashboardContext): void {
  addList(router, context);
  addOne(router, context);
  addActions(router, context);
}

/** Forms end lines with CRLF. */
function promptOf(request: Request): string {
  return fieldOf(request, 'prompt').replaceAll('\r\n', '\n');
}

function addList(router: Router, context: DashboardContext): void {
  const { db } = context;
  const read = async (request: Request, { caller: { organizationId } }: SignedMember) => {
    const cursor = queryOf(request, 'cursor');
    const given = Object.entries({ status: queryOf(request, 'status'), cursor }).filter(([, value]) => value !== '');
    const { status, cursor: beforeSequence } = parseInput(listAgentJobsQuery, Object.fromEntries(given));
    const project = queryOf(request, 'project');
    const projectId = project === '' || !isStorable(project) ? undefined : project;
    const filter = { organizationId, projectId, status, beforeSequence, limit: PAGE_SIZE + 1 };
    const rows = await listTitledJobs(context, filter);
    return { rows, pageSize: PAGE_SIZE, query: { project, status: status ?? '' }, cursor, now: context.now() };
  };
  addPage(router, {
    path: PATHS.agents,
    async show(request, signed) {
      const shown = await read(request, signed);
      const projects = await listOrganizationProjects(db, signed.caller.organizationId);
      return <AgentsPage signed={signed} messages={messagesOf(request)} projects={projects} shown={shown} />;
    },
    actors: MAKERS,
    async act(request, { caller }) {
      const project = await findOwnProject(db, caller, fieldOf(request, 'project'));
      const body = parseInput(promptRequest, { prompt: promptOf(request) });
      const { job } = await createAgentJob(context, caller, { project, body, idempotency: undefined });
      return withMessage(job === undefined ? PATHS.agents : pathOf('agents', job.id), 'job-created');
    },
  });
  addLivePart(router, context, {
    path: `${PATHS.agents}/events`,
    show: async (request, signed) => <AgentList {...(await read(request, signed))} />,
  });
}

/** A job of the caller's organization, whatever its project. Throws 404. */
async function findJob({ db }: DashboardContext, caller: Caller, id: unknown): Promise<AgentJobRow> {
  const job = typeof id === 'string' && isStorable(id) ? await getAgentJob(db, id) : undefined;
  if (job === undefined || job.organizationId !== caller.organizationId) {
    throw new HttpError(404, 'There is no such agent job');
  }
  return job;
}

function addOne(router: Router, context: DashboardContext): void {
  const show = async (request: Request, signed: SignedMember) => {
    const job = await findJob(context, signed.caller, request.params.jobId);
    const facts = await createFactsReader(context, signed)(job);
    return <AgentPage signed={signed} messages={messagesOf(request)} facts={facts} />;
  };
  addPage(router, { path: `${PATHS.agents}/:jobId`, show });
  const message = async (request: Request, { caller }: SignedMember) => {
    const job = await findJob(context, caller, request.params.jobId);
    const body = parseInput(promptRequest, { prompt: promptOf(request) });
    await messageAgentJob(context, caller, { job, body, idempotency: undefined });
    return withMessage(pathOf('agents', job.id), 'message-sent');
  };
  addAction(router, `${PATHS.agents}/:jobId/message`, MAKERS, message, show);
  addRoute(router, `${PATHS.agents}/:jobId/events`, {
    get: async (request, response) => {
      const signed = signedOf(request);
      await findJob(context, signed.caller, request.params.jobId);
      const readFacts = createFactsReader(context, signed);
      streamPart(context, { request, response }, async () => {
        const job = await findJob(context, signed.caller, request.params.jobId);
        const facts = await readFacts(job);
        const html = await renderBounded(<AgentParts signed={signed} facts={facts} />);
        return { html, isOver: job.status !== 'active' };
      });
    },
  });
}

function addActions(router: Router, context: DashboardContext): void {
  const jobOf = (request: Request, caller: Caller) => findJob(context, caller, request.params.jobId);
  addConfirmed(router, `${PATHS.agents}/:jobId/cancel`, MAKERS, {
    async show(request, signed) {
      const { id } = await jobOf(request, signed.caller);
      const asked = { question: 'Cancel this agent job?', confirmLabel: 'Cancel the job' };
      return (
        <ConfirmPage
          {...{ signed, section: 'agents', ...asked }}
          action={pathOf('agents', id, 'cancel')}
          cancelHref={pathOf('agents', id)}
        >
          <p>The agent stops, and what it has not pushed is lost.</p>
        </ConfirmPage>
      );
    },
    async act(request, { caller }) {
      const { id } = await jobOf(request, caller);
      const { result } = await cancelAgentRun(context, caller, { id });
      return withMessage(pathOf('agents', id), result === 'accepted' ? 'job-canceled' : 'job-ended');
    },
  });
  addConfirmed(router, `${PATHS.agents}/:jobId/archive`, MAKERS, {
    async show(request, signed) {
      const { id } = await jobOf(request, signed.caller);
      const asked = { question: 'Archive this agent job?', confirmLabel: 'Archive the job' };
      return (
        <ConfirmPage
          {...{ signed, section: 'agents', ...asked }}
          action={pathOf('agents', id, 'archive')}
          cancelHref={pathOf('agents', id)}
        >
          <p>It takes no more messages, and can't be opened again. Its pull request stays.</p>
        </ConfirmPage>
      );
    },
    async act(request, { caller }) {
      const job = await jobOf(request, caller);
      await archiveEndedAgentJob(context, caller, job);
      return withMessage(pathOf('agents', job.id), 'job-archived');
    },
  });
}
