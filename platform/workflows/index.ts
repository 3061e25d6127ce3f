// The workflow bundle's entry: every workflow type the platform's worker runs.
export { agentJob } from './agent-job.ts';
export { staticExportJob } from './static-export-job.ts';
