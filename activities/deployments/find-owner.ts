import { Context } from '@temporalio/activity';
import { type Client, type WorkflowExecutionStatusName, WorkflowNotFoundError } from '@temporalio/client';
import { deploymentPlace } from '../../contract/deployment-config.ts';
import { WORKFLOW_IDS } from '../../contract/names.ts';
import type { ReadSite } from '../sites/read-site.ts';

type FindOwnerDeps = {
  readSite: ReadSite;
  /** The worker's own client by default. */
  client?: Client | undefined;
};

type FindOwnerInput = {
  /** The site whose write is there. */
  site: string;
  /** The deployment's name. */
  valuesFile: string;
  /** The site that wants to write. */
  forSite: string;
};

export type FoundOwner = {
  /**
   * `gone`: the owner's workflow has ended, or is an earlier one of the same site; `released`: this worker's galley.yaml has
   * the owner, without the deployment. `listed`: it lists the deployment for the owner. `unknown`: it doesn't have the owner,
   * whose workflow runs, perhaps with another galley.yaml.
   */
  verdict: 'gone' | 'released' | 'listed' | 'unknown';
};

const ENDED: readonly WorkflowExecutionStatusName[] = ['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT'];

/**
 * Finds out whether a site may take a deployment over from its owner: if it is `gone` or `released`, and an `unknown` one if
 * it doesn't keep its link fresh. Throws if Temporal can't be asked.
 */
export function createFindOwner({ readSite, client }: FindOwnerDeps) {
  return async function findOwner({ site, valuesFile, forSite }: FindOwnerInput): Promise<FoundOwner> {
    if (site === forSite || (await hasEnded(client ?? Context.current().client, site))) return { verdict: 'gone' };
    const config = await readSite(site);
    if (config === undefined) return { verdict: 'unknown' };
    const isListed = config.export.deployments.some((entry) => deploymentPlace(entry) === valuesFile);
    return { verdict: isListed ? 'listed' : 'released' };
  };
}

async function hasEnded(client: Client, site: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(WORKFLOW_IDS.exportSite(site)).describe();
    return ENDED.includes(status.name);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return true;
    throw error;
  }
}
