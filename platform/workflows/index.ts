// The entry of the workflow bundle: all workflow types of the platform's worker.
export { agentJob } from './agent-job.ts';
export { collectGarbage } from './collect-garbage.ts';
export { staticExportJob } from './static-export-job.ts';
