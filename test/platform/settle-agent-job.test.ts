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
  (state, run, begun, cancelled, decision) => {
    const job = { id: 'aj_a', sequence: 1, run: 2, begun, cancelRequestedAt: cancelled ? new Date() : null };
    expect(decideAgentJob(job, state === 'unknown' ? { state } : { state, run })).toBe(decision);
  },
);
