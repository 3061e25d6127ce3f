import type { AgentChangePhase } from '../../contract/agent-state.ts';

const ENDS: readonly AgentChangePhase[] = ['merged', 'closed', 'expired', 'unchanged', 'failed', 'cancelled'];

/** Whether nothing more can happen to a change, but that its end is told. */
export function isOver(phase: AgentChangePhase): boolean {
  return ENDS.includes(phase);
}
