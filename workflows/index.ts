// The entry of the workflow bundle. Each workflow's file has its types, messages and top-level flow. The folder of the same
// name has:
//   state.ts          what a run keeps and hands to the next one
//   transitions.ts    the named changes of the state (also targets.ts for deployments, events.ts for pull requests)
//   schedule.ts       when things are due: pure functions
//   visibility.ts     what queries and the Temporal UI show
//   configuration.ts  where the settings come from
//   other files       the steps of the flow, with the activities that they call
// tracing/ adds spans to traces; its interceptors.ts is only bundled for workers with traces.
// The long-running workflows share entity/ (what every long-running workflow needs), retry/, failures/, deliveries/, mails/ and notifications/.
export { agentChange } from './agent-change.ts';
export { agentRule } from './agent-rule.ts';
export { exportSite } from './export-site.ts';
export { notification } from './notification.ts';
export { renamedSite } from './renamed-site.ts';
export { startGate } from './start-gate.ts';
export { watchdog } from './watchdog.ts';
export { watchdogReport } from './watchdog-report.ts';
