// The workflow bundle's entry: every workflow type the orchestrator's worker runs.
export { agentChange } from './agent-change.ts';
export { agentRule } from './agent-rule.ts';
export { exportSite } from './export-site.ts';
