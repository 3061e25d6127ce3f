import type { Express } from 'express';
import { methodNotAllowed } from '../error-handler.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { createAgentJobHandler } from './create-agent-job.ts';
import { archiveAgentJobHandler, cancelAgentJobHandler } from './end-agent-job.ts';
import { messageAgentJobHandler } from './message-agent-job.ts';
import { getAgentJobHandler, listAgentJobsHandler } from './read-agent-jobs.ts';
import { agentLogHandler } from './read-agent-log.ts';

const PROJECT = '/v2/agent/:projectId';
const JOB = `${PROJECT}/job/:id`;

/** The agent endpoints of the contract. */
export function addAgentJobRoutes(app: Express, context: ApiContext): void {
  app
    .route(`${PROJECT}/job`)
    .post(createAgentJobHandler(context))
    .all(methodNotAllowed(['POST']));
  app
    .route(`${PROJECT}/jobs`)
    .get(listAgentJobsHandler(context))
    .all(methodNotAllowed(['GET', 'HEAD']));
  app
    .route(JOB)
    .get(getAgentJobHandler(context))
    .all(methodNotAllowed(['GET', 'HEAD']));
  app
    .route(`${JOB}/log`)
    .get(agentLogHandler(context))
    .all(methodNotAllowed(['GET', 'HEAD']));
  app
    .route(`${JOB}/message`)
    .post(messageAgentJobHandler(context))
    .all(methodNotAllowed(['POST']));
  app
    .route(`${JOB}/cancel`)
    .post(cancelAgentJobHandler(context))
    .all(methodNotAllowed(['POST']));
  app
    .route(`${JOB}/archive`)
    .post(archiveAgentJobHandler(context))
    .all(methodNotAllowed(['POST']));
}
