// The workflow bundle's entry: every workflow type the orchestrator's worker runs.
export { exportSite } from './export-site.ts';
