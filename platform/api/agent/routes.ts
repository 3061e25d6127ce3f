import type { Express, Request, RequestHandler } from 'express';
import { type PromptRequest, promptRequest } from '../../../contract/admin-api.ts';
import { parseInput } from '../../parse-input.ts';
import type { AgentJobRow } from '../../store/agent-jobs.ts';
import type { Caller } from '../../store/api-keys.ts';
import { addRoute } from '../add-route.ts';
import { authenticate, forCaller } from '../authenticate.ts';
import { readIdempotencyKey } from '../idempotency.ts';
import { readJsonBody } from '../json-body.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import type { Idempotency, PromptAnswer } from './accept-prompt.ts';
import { agentJobView, findOwnAgentJob, findOwnProject } from './agent-job-view.ts';
import { createAgentJob } from './create-agent-job.ts';
import { archiveEndedAgentJob, cancelAgentRun } from './end-agent-job.ts';
import { messageAgentJob } from './message-agent-job.ts';
import { listAgentJobsQuery, listProjectJobs } from './read-agent-jobs.ts';
import { agentLogHandler } from './read-agent-log.ts';

const PROJECT = '/v2/agent/:projectId';
const JOB = `${PROJECT}/job/:id`;

type Prompt = { body: PromptRequest; idempotency: Idempotency };

/** The agent endpoints of the contract. */
export function addAgentJobRoutes(app: Express, context: ApiContext): void {
  const { db } = context;
  const projectOf = (caller: Caller, { params }: Request) => findOwnProject(db, caller, params.projectId);
  const jobOf = (caller: Caller, { params }: Request) => findOwnAgentJob(db, caller, params);
  const ofJob = (answer: (caller: Caller, job: AgentJobRow) => object | Promise<object>) =>
    forCaller(db, async (caller, request) => answer(caller, await jobOf(caller, request)));
  /** A prompt for what `find` finds: that is checked before the body. */
  const prompting =
    <Subject>(
      find: (caller: Caller, request: Request) => Promise<Subject>,
      accept: (caller: Caller, subject: Subject, prompt: Prompt) => Promise<PromptAnswer>,
    ): RequestHandler =>
    async (request, response) => {
      const caller = await authenticate(db, request);
      const subject = await find(caller, request);
      const body = parseInput(promptRequest, await readJsonBody(request, response));
      const answer = await accept(caller, subject, { body, idempotency: readIdempotencyKey(request, body) });
      response.status(answer.status).set(answer.headers).json(answer.body);
    };
  addRoute(app, `${PROJECT}/job`, {
    post: prompting(projectOf, (caller, project, prompt) => createAgentJob(context, caller, { project, ...prompt })),
  });
  addRoute(app, `${PROJECT}/jobs`, {
    get: forCaller(db, async (caller, request) => {
      const { id } = await projectOf(caller, request);
      return listProjectJobs(context, id, parseInput(listAgentJobsQuery, request.query));
    }),
  });
  addRoute(app, JOB, { get: ofJob((_caller, job) => agentJobView(job)) });
  addRoute(app, `${JOB}/log`, { get: agentLogHandler(context) });
  addRoute(app, `${JOB}/message`, {
    post: prompting(jobOf, (caller, job, prompt) => messageAgentJob(context, caller, { job, ...prompt })),
  });
  addRoute(app, `${JOB}/cancel`, { post: ofJob((caller, job) => cancelAgentRun(context, caller, job)) });
  addRoute(app, `${JOB}/archive`, { post: ofJob((caller, job) => archiveEndedAgentJob(context, caller, job)) });
}
