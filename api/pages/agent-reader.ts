import {
  type AgentChangeState,
  type AgentRuleState,
  agentChangeState,
  agentRuleState,
} from '../../contract/agent-state.ts';
import { changesOfSite, QUERIES, UPDATES, WORKFLOW_IDS } from '../../contract/names.ts';
import { HttpError } from '../../web/http-error.ts';
import { withinDeadline } from '../deadline.ts';
import { actionFailure } from '../site-actions.ts';
import type { PagesDeps } from './pages-deps.ts';

/** Longer than the 30 s for which a change tries to cancel its agent job. */
const UPDATE_DEADLINE_MS = 45_000;

/** By the ids of their workflows. */
export type ChangeStates = Readonly<Record<string, AgentChangeState>>;

type AgentReader = {
  /** Undefined if the rule has collected nothing yet, or its workflow doesn't respond. */
  rule: (site: string, rule: string) => Promise<AgentRuleState | undefined>;
  /** Undefined if there is no such change, or its workflow doesn't respond. */
  change: (workflowId: string) => Promise<AgentChangeState | undefined>;
  /** The states of those that respond. */
  changes: (workflowIds: readonly string[]) => Promise<ChangeStates>;
  /** Cancels a change. Rejects with HttpError 409 if it is over, 503 without a response. */
  cancelChange: (workflowId: string) => Promise<void>;
};

/** Reads the states of rules and changes from their workflows. */
export function createAgentReader({
  client,
  readDeadlineMs,
}: Pick<PagesDeps, 'client' | 'readDeadlineMs'>): AgentReader {
  const query = (workflowId: string): Promise<unknown> => {
    const handle = client.workflow.getHandle(workflowId);
    const call = client.withDeadline(Date.now() + readDeadlineMs, () => handle.query<unknown>(QUERIES.state));
    return withinDeadline(readDeadlineMs, call).catch(() => undefined);
  };
  const change: AgentReader['change'] = async (workflowId) => agentChangeState.safeParse(await query(workflowId)).data;
  return {
    rule: async (site, rule) => agentRuleState.safeParse(await query(WORKFLOW_IDS.agentRule(site, rule))).data,
    change,
    async changes(workflowIds) {
      const read = await Promise.all(workflowIds.map(async (id) => [id, await change(id)] as const));
      return Object.fromEntries(read.flatMap(([id, state]) => (state === undefined ? [] : [[id, state] as const])));
    },
    async cancelChange(workflowId) {
      const handle = client.workflow.getHandle(workflowId);
      const call = client.withDeadline(Date.now() + UPDATE_DEADLINE_MS, () => handle.executeUpdate(UPDATES.cancel));
      await withinDeadline(UPDATE_DEADLINE_MS, call).catch((error: unknown) => {
        throw actionFailure(error, new HttpError(409, 'the change has ended already'));
      });
    },
  };
}

/** The site of a change, by the id of its workflow; undefined if it is the id of none. */
export function siteOfChange(workflowId: string): string | undefined {
  const site = workflowId.split(':')[1] ?? '';
  return workflowId.startsWith(changesOfSite(site)) && site !== '' ? site : undefined;
}
