import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { Logger } from 'pino';
import { agentRuleState } from '../contract/agent-state.ts';
import { type GalleyConfig, siteNamed } from '../contract/galley-config.ts';
import { SITE_NAME, UPDATES } from '../contract/names.ts';
import type { ActionOptions } from '../contract/site-action.ts';
import { type Acted, RENAMED_FROM_MEMO, type SiteState, siteState } from '../contract/site-state.ts';
import { HttpError } from '../web/http-error.ts';
import type { Receiver } from './receive.ts';
import type { RenamedSites } from './renamed-sites.ts';
import type { SiteStatus, SiteStatusReader } from './site-status.ts';
import type { TemporalGateway, Update } from './temporal-gateway.ts';
import { unavailable } from './unavailable.ts';

/** A workflow lets an action wait up to 30 s for its effect, a removal for the cancellation of a job. */
const UPDATE_DEADLINE_MS = 45_000;

/** Actions without a further argument, and the update of each. */
const STEER = {
  export: UPDATES.exportNow,
  refresh: UPDATES.refreshNow,
  pause: UPDATES.pause,
  resume: UPDATES.resume,
  lock: UPDATES.lock,
  unlock: UPDATES.unlock,
  approve: UPDATES.approve,
  reject: UPDATES.reject,
} as const;

export type SteerAction = keyof typeof STEER;

/** An action's options, with who acts. */
type ActedOptions = ActionOptions & { actor: string };

/**
 * What operators do with sites. Each resolves with the state of the site, without its histories, and rejects with
 * HttpError 404 if there is no such site, 409 with the reason if the action isn't possible now, and 503 if Temporal
 * doesn't respond. The site's workflow lists it with the `actor`.
 */
export type SiteActions = {
  steer: (site: string, action: SteerAction, options: ActedOptions) => Promise<SiteState>;
  /** Deploys an earlier job, by its id or its version. */
  rollback: (site: string, job: string, options: ActedOptions) => Promise<SiteState>;
  /** Dispatches a filtered delivery, exports the site for another listed one; or prompts a rule again, and resolves with the rule's unvalidated state. */
  runAgain: (
    site: string,
    delivery: { deliveryId: string; rule?: string | undefined },
    actor: string,
  ) => Promise<unknown>;
  /** Ends the site and its agent rules. Changes that these started go on until their pull requests end. */
  remove: (site: string, actor: string) => Promise<SiteState & { endedRules: string[] }>;
  /**
   * Continues a site under the name that galley.yaml has for it now, and ends the agent rules of its old name. Resolves with its
   * state, with histories. May be repeated.
   */
  rename: (site: string, to: string, actor: string) => Promise<SiteStatus>;
  /** Ends one rule, and resolves with its unvalidated last state. */
  removeRule: (site: string, rule: string, actor: string) => Promise<unknown>;
};

type SiteActionsDeps = {
  config: GalleyConfig;
  gateway: Pick<TemporalGateway, 'update' | 'exportNow' | 'listAction' | 'listRules' | 'describe' | 'unsubscribe'>;
  status: Pick<SiteStatusReader, 'one'>;
  renamed: Pick<RenamedSites, 'add'>;
  /** See `Receiver`. */
  runFilteredAgain: Receiver['runAgain'];
  logger: Logger;
};

export function createSiteActions(deps: SiteActionsDeps): SiteActions {
  const { gateway, status } = deps;
  const act = createAct(deps);

  /** Starts the workflow of a configured site if it doesn't run. */
  async function exportNow(site: string, options: ActionOptions): Promise<SiteState> {
    const siteConfig = siteNamed(deps.config, site);
    const call = () =>
      siteConfig === undefined
        ? gateway.update(site, { name: UPDATES.exportNow, args: [options] }, UPDATE_DEADLINE_MS)
        : gateway.exportNow({ site, domain: siteConfig.domain }, options, UPDATE_DEADLINE_MS);
    return siteState.parse(await act(site, call));
  }

  async function update(site: string, sent: Update): Promise<SiteState> {
    return siteState.parse(await act(site, () => gateway.update(site, sent, UPDATE_DEADLINE_MS)));
  }

  return {
    async steer(site, action, options) {
      if (action === 'export') return await exportNow(site, options);
      return await update(site, { name: STEER[action], args: [options] });
    },
    rollback: (site, job, options) => update(site, { name: UPDATES.rollback, args: [job, options] }),
    async runAgain(site, { deliveryId, rule }, actor) {
      // First: more are kept than the site lists.
      if (rule === undefined && (await deps.runFilteredAgain(site, deliveryId))) {
        await listAction(deps, site, { action: 'run-again', actor, detail: deliveryId });
        return await status.one(site);
      }
      await requireDelivery(status, site, deliveryId);
      const options = { actor, deliveryId };
      if (rule === undefined) return await exportNow(site, options);
      const missing = new HttpError(409, `the rule ${rule.slice(0, 63)} doesn't run: it has collected no event yet`);
      if (!SITE_NAME.test(rule)) throw missing;
      const sent: Update = { name: UPDATES.runAgain, args: [options] };
      const state = await act(site, () => gateway.update({ site, rule }, sent, UPDATE_DEADLINE_MS), missing);
      await listAction(deps, site, { action: 'run-again', actor, detail: `${deliveryId} by the rule ${rule}` });
      return state;
    },
    async remove(site, actor) {
      const sent: Update = { name: UPDATES.remove, args: [{ actor }] };
      // First, so that a repeated request ends those that a failed one left.
      const ended = await act(site, () => endRules(deps, site, sent));
      return { ...(await update(site, sent)), endedRules: [...ended.keys()].toSorted() };
    },
    async rename(site, to, actor) {
      requireRenamed(deps.config, site, to);
      const missing = new HttpError(404, `no site ${site} runs`);
      await act(site, () => renameOnce(gateway, { site, to, actor }), missing);
      deps.renamed.add(site, to);
      const endedRules = await act(site, () => endRules(deps, site, { name: UPDATES.remove, args: [{ actor }] }));
      await act(to, () => keepUnsubscribed(deps, to, endedRules));
      return await status.one(to);
    },
    async removeRule(site, rule, actor) {
      const missing = new HttpError(404, 'no such rule runs');
      if (!SITE_NAME.test(rule)) throw missing;
      const sent: Update = { name: UPDATES.remove, args: [{ actor }] };
      const state = await act(site, () => gateway.update({ site, rule }, sent, UPDATE_DEADLINE_MS), missing);
      await listAction(deps, site, { action: 'remove', actor, detail: `the rule ${rule}` });
      return state;
    },
  };
}

/** Runs an action on a workflow. If there is none, it rejects with `missing`. */
type Act = <T>(site: string, action: () => Promise<T>, missing?: HttpError) => Promise<T>;

function createAct({ config, logger }: SiteActionsDeps): Act {
  /** Why a site has no workflow: nothing was published, or it is unknown. */
  const noWorkflow = (site: string): HttpError =>
    siteNamed(config, site) !== undefined
      ? new HttpError(409, 'nothing was published yet, or not since the site was removed: export the site first')
      : new HttpError(404, 'no such site');

  return async (site, action, missing = noWorkflow(site)) => {
    if (!SITE_NAME.test(site)) throw new HttpError(404, 'no such site');
    try {
      return await action();
    } catch (error) {
      const failure = actionFailure(error, missing);
      if (failure.status === 503)
        logger.warn({ site, error: String(error) }, 'Temporal did not respond to an action on a site');
      throw failure;
    }
  };
}

/** Why an update of a workflow failed: it rejected the update, it doesn't run, or nothing responded in time. */
export function actionFailure(error: unknown, missing: HttpError): HttpError {
  if (error instanceof WorkflowNotFoundError) return missing;
  if (error instanceof WorkflowUpdateFailedError)
    return new HttpError(409, error.cause instanceof Error ? error.cause.message : error.message);
  return unavailable('no response in time: the action may still happen. Look at the state before you repeat it');
}

/** Throws HttpError 409 unless galley.yaml has the site under its new name only. */
function requireRenamed(config: GalleyConfig, site: string, to: string): void {
  if (siteNamed(config, site) !== undefined) {
    throw new HttpError(
      409,
      `galley.yaml of the api still has ${site}: rename it there, and restart api and workers first`,
    );
  }
  if (siteNamed(config, to) === undefined) {
    throw new HttpError(
      409,
      `galley.yaml of the api has no site ${to}: rename ${site} there, and restart api and workers first`,
    );
  }
}

/** Does nothing if an earlier request, whose response may have been lost, did it. */
async function renameOnce(
  gateway: SiteActionsDeps['gateway'],
  { site, to, actor }: { site: string; to: string; actor: string },
): Promise<void> {
  try {
    await gateway.update(site, { name: UPDATES.rename, args: [to, { actor }] }, UPDATE_DEADLINE_MS);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    const found = await gateway.describe(to, UPDATE_DEADLINE_MS);
    if (found?.closeTime !== undefined || found?.memo?.[RENAMED_FROM_MEMO] !== site) throw error;
  }
}

async function requireDelivery(status: SiteActionsDeps['status'], site: string, deliveryId: string): Promise<void> {
  if (!SITE_NAME.test(site)) throw new HttpError(404, 'no such site');
  const { deliveries, current } = await status.one(site);
  if (deliveries.some(({ id }) => id === deliveryId)) return;
  if (!current) throw unavailable('the workflow of the site did not respond, so its deliveries are not known');
  throw new HttpError(404, 'the site lists no delivery with this id');
}

/** The action itself has happened, so a failure is only logged. */
async function listAction({ gateway, logger }: SiteActionsDeps, site: string, action: Acted): Promise<void> {
  await gateway.listAction(site, action, UPDATE_DEADLINE_MS).catch((error: unknown) => {
    logger.warn({ site, error: String(error) }, "An action could not be added to the site's history");
  });
}

/**
 * Temporal's list may lack a rule that started a moment ago and hold one that has ended, so the configured are tried too.
 * Returns the last state of each rule that ended, unvalidated.
 */
async function endRules(
  { config, gateway }: SiteActionsDeps,
  site: string,
  remove: Update,
): Promise<Map<string, unknown>> {
  const configured = siteNamed(config, site)?.agent ?? [];
  const listed = await gateway.listRules(site, UPDATE_DEADLINE_MS);
  const rules = new Set([...listed, ...configured.map(({ name }) => name)]);
  const ended = new Map<string, unknown>();
  await Promise.all(
    [...rules].map(async (rule) => {
      try {
        ended.set(rule, await gateway.update({ site, rule }, remove, UPDATE_DEADLINE_MS));
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    }),
  );
  return ended;
}

/** Who wants no mail of a rule gets none under the new name either. */
async function keepUnsubscribed(
  { config, gateway }: SiteActionsDeps,
  site: string,
  ended: ReadonlyMap<string, unknown>,
): Promise<void> {
  for (const { name: rule } of siteNamed(config, site)?.agent ?? []) {
    const addresses = agentRuleState.safeParse(ended.get(rule)).data?.unsubscribed ?? [];
    for (const address of addresses) await gateway.unsubscribe({ site, rule }, address);
  }
}
