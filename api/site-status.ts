import type { WorkflowExecutionInfo } from '@temporalio/client';
import { defineSearchAttributeKey, type LoadedDataConverter, SearchAttributeType } from '@temporalio/common';
import type { Logger } from 'pino';
import { type DeploymentConfig, deploymentName, deploymentUrl, targetOf } from '../contract/deployment-config.ts';
import { type GalleyConfig, type SiteConfig, siteNamed } from '../contract/galley-config.ts';
import { SEARCH_ATTRIBUTES } from '../contract/names.ts';
import {
  type DeploymentState,
  idleSiteState,
  type SiteState,
  type StateQuery,
  sitePhase,
  siteState,
} from '../contract/site-state.ts';
import { type StartPlace, startQueue } from '../contract/start-gate.ts';
import { HttpError } from '../web/http-error.ts';
import { readJobProgress } from './job-progress.ts';
import type { RecentDeliveries } from './recent-deliveries.ts';
import type { Rejected, RejectedDeliveries } from './rejected-deliveries.ts';
import type { TemporalGateway } from './temporal-gateway.ts';
import { unavailable } from './unavailable.ts';

/** The most deliveries per site in a list: enough to see that its webhook works. */
const MAX_DELIVERIES_IN_LIST = 5;
/** Concurrent queries for one page: each may wake a workflow on a worker. */
const QUERIES_AT_A_TIME = 10;

/**
 * `current` is false if the workflow didn't respond in time and the state comes from Temporal's own record. `rejected`
 * counts what this process rejected since it started.
 */
export type SiteStatus = SiteState & { current: boolean; rejected: readonly Rejected[] };

/** The part of Temporal's record that is read. */
type Recorded = Pick<WorkflowExecutionInfo, 'typedSearchAttributes'>;

type SiteStatusDeps = {
  config: GalleyConfig;
  gateway: TemporalGateway;
  dataConverter: LoadedDataConverter;
  recent: RecentDeliveries;
  rejected: RejectedDeliveries;
  logger: Logger;
  /** After this time without a response, the state comes from Temporal's own record of the workflow. */
  readDeadlineMs: number;
};

export type SiteStatusReader = {
  /**
   * The status of a site that is configured or still runs. Throws HttpError 404 if it is neither, and 503 if Temporal
   * can't be reached.
   */
  one: (site: string) => Promise<SiteStatus>;
  /** The status from a state that the site's workflow just returned. */
  of: (site: string, state: SiteState) => SiteStatus;
  /** A page of sites, ordered by name. */
  page: (after: string | undefined, limit: number) => Promise<{ sites: SiteStatus[]; nextCursor: string | null }>;
};

const phaseKey = defineSearchAttributeKey(SEARCH_ATTRIBUTES.phase, SearchAttributeType.KEYWORD);
const versionKey = defineSearchAttributeKey(SEARCH_ATTRIBUTES.version, SearchAttributeType.KEYWORD);
const linkKey = defineSearchAttributeKey(SEARCH_ATTRIBUTES.linkExpiresAt, SearchAttributeType.DATETIME);

export function createSiteStatus(deps: SiteStatusDeps): SiteStatusReader {
  const { config, gateway, recent, rejected, logger, readDeadlineMs } = deps;
  const names = Object.keys(config.sites).sort();

  const reached = <T>(call: Promise<T>): Promise<T> =>
    call.catch((error: unknown) => {
      logger.warn({ error: String(error) }, 'Temporal did not respond to a status request');
      throw unavailable('Temporal can not be reached');
    });

  /** The workflow's own state; undefined if it doesn't respond, which is no error for one of many sites. */
  const queryState = async (site: string, query: StateQuery): Promise<SiteState | undefined> => {
    try {
      return siteState.parse(await gateway.queryState(site, query, readDeadlineMs));
    } catch (error) {
      logger.debug({ site, error: String(error) }, 'The workflow did not respond to its query');
      return undefined;
    }
  };

  const assemble = (
    site: string,
    siteConfig: SiteConfig | undefined,
    info: Recorded | undefined,
    queried: SiteState | undefined,
  ): SiteStatus => {
    const state = queried ?? (info === undefined ? idle(site, siteConfig) : recorded(site, siteConfig, info));
    const current = queried !== undefined || info === undefined;
    const deliveries = recent.merge(site, state.deliveries, { current });
    return { ...state, deliveries, rejected: rejected.of(site), current };
  };

  return {
    async one(site) {
      const siteConfig = siteNamed(config, site);
      const [description, state] = await Promise.all([
        reached(gateway.describe(site, readDeadlineMs)),
        queryState(site, {}),
      ]);
      const runs = description !== undefined && description.closeTime === undefined;
      if (siteConfig === undefined && !runs) throw new HttpError(404, 'no such site');
      // A closed workflow refreshes no link, so its last state no longer holds.
      if (description?.closeTime !== undefined) return assemble(site, siteConfig, undefined, undefined);
      const progress = description && (await readJobProgress(description, deps.dataConverter));
      const places = await readStartPlaces(deps, [state]);
      const startPlace = places[site] ?? null;
      return { ...assemble(site, siteConfig, description, state), progress: progress ?? null, startPlace };
    },

    of: (site, state) => assemble(site, undefined, undefined, state),

    async page(after, limit) {
      const rest = after === undefined ? names : names.filter((name) => name > after);
      const chosen = rest.slice(0, limit);
      const running = await reached(gateway.listRunning(chosen, readDeadlineMs));
      const states = await queryInTurn([...running.keys()], (site) => queryState(site, { brief: true }));
      const places = await readStartPlaces(deps, [...states.values()]);
      const sites = chosen.flatMap((site) => {
        const siteConfig = config.sites[site];
        return siteConfig === undefined
          ? []
          : [
              {
                ...inList(assemble(site, siteConfig, running.get(site), states.get(site))),
                startPlace: places[site] ?? null,
              },
            ];
      });
      return { sites, nextCursor: rest.length > limit ? (chosen.at(-1) ?? null) : null };
    },
  };
}

/** The place of each site that waits for a start. Only asked if one waits; an unknown place is no error. */
async function readStartPlaces(
  { gateway, readDeadlineMs }: SiteStatusDeps,
  states: readonly (SiteState | undefined)[],
): Promise<Record<string, StartPlace>> {
  if (!states.some((state) => state?.phase === 'waiting')) return {};
  const found = await gateway.queryStartQueue(readDeadlineMs).catch(() => undefined);
  return startQueue.safeParse(found).data ?? {};
}

/** Removes the histories, because a page may have 200 sites. */
function inList(status: SiteStatus): SiteStatus {
  const deliveries = status.deliveries.slice(0, MAX_DELIVERIES_IN_LIST);
  return { ...status, deliveries, exports: [], refreshes: [], actions: [] };
}

/** Queries a few at a time and stops once one doesn't respond: without a worker the rest won't either. */
async function queryInTurn(
  sites: readonly string[],
  query: (site: string) => Promise<SiteState | undefined>,
): Promise<ReadonlyMap<string, SiteState>> {
  const states = new Map<string, SiteState>();
  const waiting = [...sites];
  const worker = async (): Promise<void> => {
    for (let site = waiting.shift(); site !== undefined; site = waiting.shift()) {
      const state = await query(site);
      if (state === undefined) waiting.length = 0;
      else states.set(site, state);
    }
  };
  await Promise.all(Array.from({ length: QUERIES_AT_A_TIME }, worker));
  return states;
}

/** The state of a site that was never published. */
function idle(site: string, config: SiteConfig | undefined): SiteState {
  return idleSiteState(site, (config?.export.deployments ?? []).map(unwritten));
}

function unwritten(entry: DeploymentConfig): DeploymentState {
  return {
    name: deploymentName(entry),
    kind: targetOf(entry).kind,
    wave: entry.wave ?? 1,
    state: 'waiting',
    version: null,
    jobId: null,
    desired: { version: null, jobId: null, reason: 'nothing' },
    writtenAt: null,
    servedAt: null,
    confirmed: null,
    linkExpiresAt: null,
    pin: null,
    off: false,
    error: null,
    url: deploymentUrl(entry),
    proposal: null,
  };
}

/** The state from the search attributes, as far as the namespace has them. */
function recorded(
  site: string,
  config: SiteConfig | undefined,
  { typedSearchAttributes: attributes }: Recorded,
): SiteState {
  const phase = sitePhase.safeParse(attributes.get(phaseKey));
  return {
    ...idle(site, config),
    ...(phase.success && { phase: phase.data }),
    version: attributes.get(versionKey) ?? null,
    linkExpiresAt: attributes.get(linkKey)?.toISOString() ?? null,
  };
}
