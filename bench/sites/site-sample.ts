import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { type Client, isGrpcServiceError, ServiceError } from '@temporalio/client';
import { WORKFLOW_IDS } from '../../contract/names.ts';
import type { RunningAdminApi } from '../../test/helpers/admin-api/fake-admin-api.ts';
import { siteLinks } from './site-links.ts';

/** A site between two refreshes. */
export interface SiteSample {
  /** The run id of its workflow. */
  runId: string;
  /** Events in that run's history. */
  events: number;
  /** Links of the site so far. */
  links: number;
  atMs: number;
}

/** The totals of all sites between two samples of each. */
export interface Growth {
  events: number;
  links: number;
  /** The mean time between a site's two samples. */
  seconds: number;
}

const POLL_MS = 50;

/** Samples a site when its workflow is idle, so that the events belong to whole refreshes. */
export async function sampleSite(client: Client, adminApi: RunningAdminApi, site: string): Promise<SiteSample> {
  for (;;) {
    const links = siteLinks(adminApi, site).count;
    const described = await client.workflow
      .getHandle(WORKFLOW_IDS.exportSite(site))
      .describe()
      .catch(ignoreUnavailable);
    const { pendingWorkflowTask, pendingActivities } = described?.raw ?? {};
    const isIdle = !pendingWorkflowTask && (pendingActivities ?? []).length === 0;
    if (described && isIdle && siteLinks(adminApi, site).count === links) {
      return { runId: described.runId, events: described.historyLength, links, atMs: Date.now() };
    }
    await sleep(POLL_MS);
  }
}

/** The dev server is briefly unavailable if the machine is very busy. */
function ignoreUnavailable(error: unknown): undefined {
  const cause = error instanceof ServiceError ? error.cause : undefined;
  if (!isGrpcServiceError(cause) || cause.code !== status.UNAVAILABLE) throw error;
}

/** @throws Error if a workflow continued as new in between: its events are then in two histories. */
export function growth(before: readonly SiteSample[], after: readonly SiteSample[]): Growth {
  const sum: Growth = { events: 0, links: 0, seconds: 0 };
  for (const [index, first] of before.entries()) {
    const second = after[index];
    if (second?.runId !== first.runId) throw new Error('a workflow continued as new within the measured window');
    sum.events += second.events - first.events;
    sum.links += second.links - first.links;
    sum.seconds += (second.atMs - first.atMs) / 1_000 / before.length;
  }
  return sum;
}
