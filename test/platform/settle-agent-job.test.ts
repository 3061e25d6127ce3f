import type { AgentWorkflow } from '../../platform/agent-workflows.ts';
import { decideAgentJob } from '../../platform/settle-agent-job.ts';

it.each([
  ['unknown', 0, false, false, 'start'],
  ['unknown', 0, true, false, 'lost'],
  ['running', 2, false, false, 'leave'],
  ['running', 2, true, true, 'cancel'],
  ['running', 1, false, false, 'leave'],
  ['running', 1, false, true, 'leave'],
  ['ended', 1, false, false, 'start'],
  ['ended', 1, true, false, 'lost'],
  ['ended', 2, false, false, 'lost'],
  ['ended', 2, true, true, 'lost'],
] as const)(
  'if the newest workflow is %s (run %i), and the second run begun (%s) and canceled (%s), the decision is: %s',
  (state, run, begun, canceled, decision) => {
    const job = {
      id: 'aj_a',
      projectId: 'prj_docs',
      sequence: 1,
      run: 2,
      begun,
      cancelRequestedAt: canceled ? new Date() : null,
    };
    expect(decideAgentJob(job, workflowOf(state, run), new Date())).toBe(decision);
  },
);

it.each([
  [2, false, 60_000, 'stuck'],
  [2, true, 60_000, 'stuck'],
  [2, false, -60_000, 'leave'],
  [2, true, -60_000, 'cancel'],
  [1, false, 60_000, 'leave'],
] as const)(
  'if the workflow of run %i (second run canceled: %s) has failed since %i ms before the deadline, the decision is: %s',
  (run, canceled, sinceMs, decision) => {
    const job = {
      id: 'aj_a',
      projectId: 'prj_docs',
      sequence: 1,
      run: 2,
      begun: true,
      cancelRequestedAt: canceled ? new Date() : null,
    };
    const deadline = new Date();
    const failingSince = new Date(deadline.getTime() - sinceMs);
    expect(decideAgentJob(job, { state: 'running', run, failingSince }, deadline)).toBe(decision);
  },
);

function workflowOf(state: AgentWorkflow['state'], run: number): AgentWorkflow {
  if (state === 'unknown') return { state };
  return state === 'running' ? { state, run, failingSince: null } : { state, run, status: 'TERMINATED' };
}
