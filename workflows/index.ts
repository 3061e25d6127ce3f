// The entry of the workflow bundle. Each workflow's file has its types, messages and top-level flow. The folder of the same
// name has:
//   state.ts          what a run keeps and hands to the next one
//   transitions.ts    the named changes of the state (also targets.ts for deployments, events.ts for pull requests)
//   schedule.ts       when things are due: pure functions
//   visibility.ts     what queries and the Temporal UI show
//   configuration.ts  where the settings come from
//   other files       the steps of the flow, with the activities that they call
// The three workflows share entity/ (what every long-running workflow needs), retry/, failures/, deliveries/ and mails/.
export { agentChange } from './agent-change.ts';
export { agentRule } from './agent-rule.ts';
export { exportSite } from './export-site.ts';
