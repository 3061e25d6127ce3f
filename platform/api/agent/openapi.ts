import { z } from 'zod';
import { agentCancellation, agentJobPage, agentJobSchema, promptRequest } from '../../../contract/admin-api.ts';
import { projectId } from '../../admin/project-requests.ts';
import { idempotencyParameter } from '../openapi/idempotency-parameter.ts';
import { parametersOf, refTo } from '../openapi/json-schemas.ts';
import { type Operation, rateLimitHeaders, refusals, success, textResponse } from '../openapi/operations.ts';
import { LIMIT_PARAMETER } from '../paging.ts';
import { listAgentJobsQuery } from './read-agent-jobs.ts';

/** Schemas of the agent endpoints, by their names in the document. */
export const AGENT_SCHEMAS = {
  PromptRequest: promptRequest,
  AgentJob: agentJobSchema,
  AgentJobPage: agentJobPage,
  AgentCancellation: agentCancellation,
};

type SchemaName = keyof typeof AGENT_SCHEMAS;

const ok = (description: string, schema: SchemaName) => ({ 200: success(description, schema) });

const operation = (each: Operation) => ({ ...each, tags: ['Agent jobs'] });

const projectPath = parametersOf('path', z.object({ projectId: projectId.meta({ description: 'The project.' }) }));

const id = z.string().regex(/^aj_[0-9a-f]{16}$/);
const jobPath = [...projectPath, ...parametersOf('path', z.object({ id: id.meta({ description: 'The job.' }) }))];

/** Links to the next operations on a job that was just created. */
const NEXT = Object.fromEntries(
  ['getAgentJob', 'messageAgentJob', 'cancelAgentJob', 'archiveAgentJob', 'getAgentJobLog'].map((operationId) => [
    operationId,
    { operationId, parameters: { projectId: '$request.path.projectId', id: '$response.body#/id' } },
  ]),
);

const promptBody = (prompt: string): NonNullable<Operation['requestBody']> => ({
  required: true,
  content: { 'application/json': { schema: refTo('PromptRequest'), example: { prompt } } },
});

const counted = rateLimitHeaders({ required: false });

const createAgentJob = operation({
  operationId: 'createAgentJob',
  summary: 'Create an agent job',
  description:
    'The prompt has 1 to 100,000 characters, counted as Unicode code points. 100 prompts per project and hour, follow-up ' +
    'messages included. After a 201 the job always runs.',
  parameters: [
    ...projectPath,
    ...idempotencyParameter('The same key and body within 30 days get the first success again and make no second job.'),
  ],
  requestBody: promptBody("Replace 'colour' with 'color' in README.md"),
  responses: {
    201: success('The job is active.', 'AgentJob', { headers: counted, links: NEXT }),
    ...refusals(400, 401, 403, 404, 413, 415, 422, 429),
  },
});

const listAgentJobs = operation({
  operationId: 'listAgentJobs',
  summary: "List a project's agent jobs, newest first",
  description: '`nextCursor` is the `cursor` of the next page, null on the last.',
  parameters: [...projectPath, ...parametersOf('query', listAgentJobsQuery, { limit: LIMIT_PARAMETER })],
  responses: { ...ok('A page of jobs.', 'AgentJobPage'), ...refusals(400, 401, 404) },
});

const getAgentJob = operation({
  operationId: 'getAgentJob',
  summary: 'Get an agent job',
  description: 'Poll this. `prLink` is null while the job is active, and if no file was changed.',
  parameters: jobPath,
  responses: { ...ok('The job as it is now.', 'AgentJob'), ...refusals(401, 404) },
});

const getAgentJobLog = operation({
  operationId: 'getAgentJobLog',
  summary: 'Read what the agent printed',
  description: 'All runs in order, each after a line that names it. Empty while nothing is there yet.',
  parameters: jobPath,
  responses: { 200: textResponse('The log.'), ...refusals(401, 404) },
});

const messageAgentJob = operation({
  operationId: 'messageAgentJob',
  summary: 'Send an ended job a follow-up message',
  description: 'The job is active again and goes on with the same branch and pull request. 409 while it is active.',
  parameters: [
    ...jobPath,
    ...idempotencyParameter('The same key and body within 30 days get the first success again and make no second run.'),
  ],
  requestBody: promptBody("Replace 'grey' with 'gray' in README.md"),
  responses: {
    200: success('The job is active again.', 'AgentJob', { headers: counted }),
    ...refusals(400, 401, 403, 404, 409, 413, 415, 422, 429),
  },
});

const cancelAgentJob = operation({
  operationId: 'cancelAgentJob',
  summary: 'Cancel an agent job',
  description: 'A canceled job fails with the error `cancelled`, once its work has stopped.',
  parameters: jobPath,
  responses: { ...ok('Accepted, or finished before.', 'AgentCancellation'), ...refusals(401, 403, 404) },
});

const archiveAgentJob = operation({
  operationId: 'archiveAgentJob',
  summary: 'Archive an ended agent job',
  description: 'An archived job takes no more messages. Archiving it again changes nothing. 409 while it is active.',
  parameters: jobPath,
  responses: { ...ok('The job is archived.', 'AgentJob'), ...refusals(401, 403, 404, 409) },
});

/** The agent endpoints of the contract. */
export const AGENT_PATHS = {
  '/v2/agent/{projectId}/job': { post: createAgentJob },
  '/v2/agent/{projectId}/jobs': { get: listAgentJobs },
  '/v2/agent/{projectId}/job/{id}': { get: getAgentJob },
  '/v2/agent/{projectId}/job/{id}/message': { post: messageAgentJob },
  '/v2/agent/{projectId}/job/{id}/cancel': { post: cancelAgentJob },
  '/v2/agent/{projectId}/job/{id}/archive': { post: archiveAgentJob },
  '/v2/agent/{projectId}/job/{id}/log': { get: getAgentJobLog },
};
