import type { WorkflowExecutionDescription, WorkflowExecutionInfo } from '@temporalio/client';
import { type Client, WithStartWorkflowOperation, WorkflowNotFoundError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  QUERIES,
  SEARCH_ATTRIBUTES,
  SIGNALS,
  START_GATE,
  TASK_QUEUES,
  UPDATES,
  WORKFLOW_IDS,
  WORKFLOW_TYPES,
} from '../contract/names.ts';
import type { PublishedSignal } from '../contract/publish-event.ts';
import type { PullRequestChanged, Reviewed } from '../contract/pull-request-event.ts';
import type { ActionOptions } from '../contract/site-action.ts';
import { type Acted, type RenamedMemo, renamedMemo, type StateQuery } from '../contract/site-state.ts';
import { withinDeadline } from './deadline.ts';
import { findChanges } from './find-changes.ts';

/** A site's workflow is started with its name; it reads the rest from its configuration. */
type SiteStart = { site: string; domain: string };

/** An agent rule of a site, by its name in galley.yaml. */
export type RuleStart = { site: string; rule: string };

/** An update with its arguments, the last of which says who sends it. */
export type Update = { name: string; args: [ActionOptions] | [string, ActionOptions] };

/** A signal about a pull request, with its payload. */
export type PullRequestSignal =
  | { signal: typeof SIGNALS.pullRequestChanged; payload: PullRequestChanged }
  | { signal: typeof SIGNALS.reviewed; payload: Reviewed };

type TemporalGatewayOptions = {
  client: Client;
  /** Whether the namespace has our search attributes: the server rejects a start with an unknown one. */
  searchAttributesReady: () => boolean;
  /** After this time, a signal fails and its senders must send again. */
  signalDeadlineMs: number;
};

/** Starts, signals and queries workflows. Nothing else in api/ does. */
export interface TemporalGateway {
  /** Signals `exportSite`, and starts it if it doesn't run, in one atomic call. Rejects if Temporal doesn't hold it. */
  publish(site: SiteStart, signal: PublishedSignal): Promise<void>;
  /** The same for `agentRule`. */
  prompt(rule: RuleStart, signal: PublishedSignal): Promise<void>;
  /** Signals a rule that an address unsubscribed from its mail. */
  unsubscribe(rule: RuleStart, address: string): Promise<void>;
  /** Signals the site's running changes that wait for this pull request. Resolves with their ids, mostly one or none. */
  signalChanges(site: string, signal: PullRequestSignal): Promise<string[]>;
  /** Undefined if the site has no workflow. Rejects after `deadlineMs`. */
  describe(site: string, deadlineMs: number): Promise<WorkflowExecutionDescription | undefined>;
  /**
   * The workflow's unvalidated response, for a list without most of the histories (`brief`). Rejects after `deadlineMs`,
   * such as without a worker.
   */
  queryState(site: string, query: StateQuery, deadlineMs: number): Promise<unknown>;
  /** The unvalidated places of the sites that wait for a start; undefined if none ever had to. Rejects after `deadlineMs`. */
  queryStartQueue(deadlineMs: number): Promise<unknown>;
  /**
   * Sends an update to a running site or rule and resolves with its unvalidated result. Rejects with
   * WorkflowNotFoundError if none runs, with WorkflowUpdateFailedError if the update is rejected, and after `deadlineMs`.
   */
  update(target: string | RuleStart, update: Update, deadlineMs: number): Promise<unknown>;
  /** Sends `exportNow`, and starts the site's workflow if it doesn't run. */
  exportNow(site: SiteStart, options: ActionOptions, deadlineMs: number): Promise<unknown>;
  /** Lists an action on one of the site's rules with the site, if its workflow runs. */
  listAction(site: string, action: Acted, deadlineMs: number): Promise<void>;
  /** The names of the site's agent rules that run. */
  listRules(site: string, deadlineMs: number): Promise<string[]>;
  /** The new name of each site that was renamed in the last 30 days, by its old name. */
  listRenamed(deadlineMs: number): Promise<ReadonlyMap<string, string>>;
  /** The running workflows among these sites, by site. */
  listRunning(sites: readonly string[], deadlineMs: number): Promise<ReadonlyMap<string, WorkflowExecutionInfo>>;
}

/**
 * After a worker is killed during a workflow task, the task is retried after this time instead of the usual 10 s, so that
 * an overdue timer fires within 5 s of a restart. A task takes milliseconds, a long replay a second.
 */
const TASK_TIMEOUT_MS = 5_000;

const siteAttribute = defineSearchAttributeKey(SEARCH_ATTRIBUTES.site, SearchAttributeType.KEYWORD);

export function createTemporalGateway(options: TemporalGatewayOptions): TemporalGateway {
  const { client } = options;
  const within: Within = (deadlineMs, call) =>
    withinDeadline(deadlineMs, client.withDeadline(Date.now() + deadlineMs, call));
  const starts = startOptions(options.searchAttributesReady);
  return {
    ...createSignals(options, within, starts),
    ...createUpdates(client, within, starts),
    ...createReads(client, within),
  };
}

/** Rejects if the call takes longer. */
type Within = <T>(deadlineMs: number, call: () => Promise<T>) => Promise<T>;

type StartOptions = ReturnType<typeof startOptions>;

/** Options of the workflows that a signal or an update may start. */
function startOptions(searchAttributesReady: () => boolean) {
  const common = (site: string) => ({
    taskQueue: TASK_QUEUES.orchestrator,
    workflowTaskTimeout: TASK_TIMEOUT_MS,
    ...(searchAttributesReady() && { typedSearchAttributes: [{ key: siteAttribute, value: site }] }),
  });
  return {
    ofSite: ({ site, domain }: SiteStart) => ({
      ...common(site),
      workflowId: WORKFLOW_IDS.exportSite(site),
      args: [{ site }],
      memo: { site, domain },
      staticSummary: `Keeps ${domain} exported and deployed`,
    }),
    ofRule: ({ site, rule }: RuleStart) => ({
      ...common(site),
      workflowId: WORKFLOW_IDS.agentRule(site, rule),
      args: [{ site, rule }],
      memo: { site, rule },
      staticSummary: `Prompts the agent by the rule ${rule} of ${site}`,
    }),
  };
}

function createSignals(
  { client, searchAttributesReady, signalDeadlineMs }: TemporalGatewayOptions,
  within: Within,
  starts: StartOptions,
): Pick<TemporalGateway, 'publish' | 'prompt' | 'unsubscribe' | 'signalChanges'> {
  const signalRule = (rule: RuleStart, signal: string, payload: unknown): Promise<unknown> => {
    const options = { ...starts.ofRule(rule), signal, signalArgs: [payload] };
    return within(signalDeadlineMs, () => client.workflow.signalWithStart(WORKFLOW_TYPES.agentRule, options));
  };

  return {
    async publish(site, signal) {
      const options = { ...starts.ofSite(site), signal: SIGNALS.published, signalArgs: [signal] };
      await within(signalDeadlineMs, () => client.workflow.signalWithStart(WORKFLOW_TYPES.exportSite, options));
    },

    async prompt(rule, signal) {
      await signalRule(rule, SIGNALS.published, signal);
    },

    async unsubscribe(rule, address) {
      await signalRule(rule, SIGNALS.unsubscribed, { address });
    },

    async signalChanges(site, { signal, payload }) {
      return await within(signalDeadlineMs, async () => {
        const found = await findChanges({ client, byAttribute: searchAttributesReady() }, site, payload.url);
        const signaled = await Promise.all(found.map((id) => signalRunning(client, id, signal, payload)));
        return found.filter((_id, index) => signaled[index]);
      });
    },
  };
}

function createUpdates(
  client: Client,
  within: Within,
  starts: StartOptions,
): Pick<TemporalGateway, 'update' | 'exportNow' | 'listAction'> {
  return {
    async update(target, { name, args }, deadlineMs) {
      const id =
        typeof target === 'string' ? WORKFLOW_IDS.exportSite(target) : WORKFLOW_IDS.agentRule(target.site, target.rule);
      const handle = client.workflow.getHandle(id);
      return await within(deadlineMs, () => handle.executeUpdate<unknown, Update['args']>(name, { args }));
    },

    async listAction(site, action, deadlineMs) {
      await within(deadlineMs, () => signalRunning(client, WORKFLOW_IDS.exportSite(site), SIGNALS.acted, action));
    },

    async exportNow(site, options, deadlineMs) {
      const startWorkflowOperation = new WithStartWorkflowOperation(WORKFLOW_TYPES.exportSite, {
        ...starts.ofSite(site),
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      return await within(deadlineMs, () =>
        client.workflow.executeUpdateWithStart(UPDATES.exportNow, {
          startWorkflowOperation,
          args: [options],
        }),
      );
    },
  };
}

function createReads(
  client: Client,
  within: Within,
): Pick<TemporalGateway, 'describe' | 'queryState' | 'queryStartQueue' | 'listRules' | 'listRenamed' | 'listRunning'> {
  return {
    async describe(site, deadlineMs) {
      const handle = client.workflow.getHandle(WORKFLOW_IDS.exportSite(site));
      try {
        return await within(deadlineMs, () => handle.describe());
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return undefined;
        throw error;
      }
    },

    queryState(site, query, deadlineMs) {
      const handle = client.workflow.getHandle(WORKFLOW_IDS.exportSite(site));
      return within(deadlineMs, () => handle.query<unknown, [StateQuery]>(QUERIES.state, query));
    },

    queryStartQueue(deadlineMs) {
      const handle = client.workflow.getHandle(START_GATE);
      return within(deadlineMs, () => handle.query<unknown, []>(QUERIES.queue));
    },

    async listRules(site, deadlineMs) {
      const prefix = WORKFLOW_IDS.agentRule(site, '');
      const query = `WorkflowType = '${WORKFLOW_TYPES.agentRule}' AND ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH '${prefix}'`;
      return await within(deadlineMs, async () => {
        const found: string[] = [];
        for await (const { workflowId } of client.workflow.list({ query })) found.push(workflowId.slice(prefix.length));
        return found;
      });
    },

    async listRenamed(deadlineMs) {
      const query = `WorkflowType = '${WORKFLOW_TYPES.renamedSite}' AND ExecutionStatus = 'Running'`;
      return await within(deadlineMs, async () => {
        const found: (RenamedMemo & { atMs: number })[] = [];
        for await (const { memo, startTime } of client.workflow.list({ query, pageSize: 1_000 })) {
          const { success, data } = renamedMemo.safeParse(memo);
          if (success) found.push({ ...data, atMs: startTime.getTime() });
        }
        // A name may have been given up several times: the last time counts.
        return new Map(found.toSorted((a, b) => a.atMs - b.atMs).map(({ site, to }) => [site, to]));
      });
    },

    async listRunning(sites, deadlineMs) {
      const siteOf = new Map(sites.map((site) => [WORKFLOW_IDS.exportSite(site), site]));
      if (siteOf.size === 0) return new Map();
      // Site names hold letters, digits and "-" only (contract/galley-config.ts), so they need no quoting.
      const ids = [...siteOf.keys()].map((id) => `'${id}'`).join(', ');
      const query = `WorkflowType = '${WORKFLOW_TYPES.exportSite}' AND ExecutionStatus = 'Running' AND WorkflowId IN (${ids})`;
      return within(deadlineMs, async () => {
        const found = new Map<string, WorkflowExecutionInfo>();
        for await (const info of client.workflow.list({ query })) {
          const site = siteOf.get(info.workflowId);
          if (site !== undefined) found.set(site, info);
        }
        return found;
      });
    },
  };
}

/** False if the workflow has ended. */
async function signalRunning(client: Client, workflowId: string, signal: string, payload: unknown): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowId).signal(signal, payload);
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
