import type { WorkflowExecutionDescription, WorkflowExecutionInfo } from '@temporalio/client';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { QUERIES, SEARCH_ATTRIBUTES, SIGNALS, TASK_QUEUES, WORKFLOW_IDS, WORKFLOW_TYPES } from '../contract/names.ts';
import type { PublishedSignal } from '../contract/publish-event.ts';
import { withinDeadline } from './deadline.ts';

/** What a site's workflow is started with; the rest it reads from its configuration. */
export type SiteStart = { site: string; domain: string };

export type TemporalGatewayOptions = {
  client: Client;
  /** Whether the namespace knows our search attributes: an unknown one makes the server refuse the start. */
  searchAttributesReady: () => boolean;
  /** How long a signal may take before its senders are told to come again. */
  signalDeadlineMs?: number;
};

/** The one place that starts, signals and reads workflows for the receiver. */
export interface TemporalGateway {
  /** Starts `exportSite` where it doesn't run and signals it, in one atomic call. Rejects when Temporal doesn't hold it. */
  publish(site: SiteStart, signal: PublishedSignal): Promise<void>;
  /** undefined where the site has no workflow. Rejects after `deadlineMs`. */
  describe(site: string, deadlineMs: number): Promise<WorkflowExecutionDescription | undefined>;
  /** The workflow's own answer, not checked. Rejects after `deadlineMs`, as without a worker. */
  queryState(site: string, deadlineMs: number): Promise<unknown>;
  /** The running workflows among these sites, by site. */
  listRunning(sites: readonly string[], deadlineMs: number): Promise<ReadonlyMap<string, WorkflowExecutionInfo>>;
}

/**
 * A worker that is killed in the middle of a workflow's turn costs the site this long rather than the usual 10 s: so an
 * overdue timer fires within 5 s of a restart whenever the kill came. A turn takes milliseconds, a long replay a second.
 */
const TASK_TIMEOUT = '5s';

const siteAttribute = defineSearchAttributeKey(SEARCH_ATTRIBUTES.site, SearchAttributeType.KEYWORD);

export function createTemporalGateway(options: TemporalGatewayOptions): TemporalGateway {
  const { client, searchAttributesReady, signalDeadlineMs = 1_500 } = options;
  const within = <T>(deadlineMs: number, call: () => Promise<T>): Promise<T> =>
    withinDeadline(deadlineMs, client.withDeadline(Date.now() + deadlineMs, call));

  return {
    async publish({ site, domain }, signal) {
      const attributes = searchAttributesReady() ? [{ key: siteAttribute, value: site }] : [];
      await within(signalDeadlineMs, () =>
        client.workflow.signalWithStart(WORKFLOW_TYPES.exportSite, {
          workflowId: WORKFLOW_IDS.exportSite(site),
          taskQueue: TASK_QUEUES.orchestrator,
          args: [{ site }],
          workflowTaskTimeout: TASK_TIMEOUT,
          signal: SIGNALS.published,
          signalArgs: [signal],
          memo: { site, domain },
          staticSummary: `Keeps ${domain} exported and deployed`,
          ...(attributes.length > 0 && { typedSearchAttributes: attributes }),
        }),
      );
    },

    async describe(site, deadlineMs) {
      const handle = client.workflow.getHandle(WORKFLOW_IDS.exportSite(site));
      try {
        return await within(deadlineMs, () => handle.describe());
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return undefined;
        throw error;
      }
    },

    queryState(site, deadlineMs) {
      const handle = client.workflow.getHandle(WORKFLOW_IDS.exportSite(site));
      return within(deadlineMs, () => handle.query<unknown>(QUERIES.state));
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
