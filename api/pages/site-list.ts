import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { Logger } from 'pino';
import { type GalleyConfig, siteNamed } from '../../contract/galley-config.ts';
import { SEARCH_ATTRIBUTES, WORKFLOW_IDS, WORKFLOW_TYPES } from '../../contract/names.ts';
import { type SiteFigures, siteFigures } from '../../contract/site-figures.ts';
import { type SitePhase, type SiteState, sitePhase, siteState } from '../../contract/site-state.ts';
import { withinDeadline } from '../deadline.ts';
import type { TemporalGateway } from '../temporal-gateway.ts';

/**
 * Counts from the request: what hasn't responded by then is left out, because the page must not wait for slow
 * workflows. Its rendering takes time too, and a page should take less than 300 ms.
 */
const STATES_DUE_MS = 200;
/** Workflows have at least so long to respond, even if Temporal listed them late. */
const MIN_STATES_DEADLINE_MS = 50;
const PAGE_SIZE = 50;
/** Sites of one visibility query with their names. */
const SCANNED = 200;
/** The most sites in need of attention that are compared to find the most urgent. */
const COMPARED_ATTENTION = 200;
const MAX_ATTENTION = 50;

/** Phases that wait for a person, in the order of the list. */
const ATTENTION_PHASES = [
  ...(['failed', 'review', 'unconfigured', 'proposed', 'held', 'off', 'locked', 'paused'] as const),
];

const ATTENTION_ORDER: readonly (string | undefined)[] = ATTENTION_PHASES;

/**
 * One line of the list. All of it is from the site's workflow. If that doesn't respond, Temporal's indexes have the first
 * fields, except a phase that they don't know, and the others are undefined.
 */
export type SiteRow = {
  site: string;
  domain: string | undefined;
  phase: string | undefined;
  version: string | null;
  linkExpiresAt: string | null;
  oldestUnserved?: SiteState['oldestUnserved'] | undefined;
  lastPublishAt?: string | null;
  lastError?: string | null;
  figures?: SiteFigures | null;
};

export type SiteListQuery = { search: string; phase: string; after: string };

export type SiteListResult = {
  /** The sites that wait for a person, the most urgent first; empty on later pages. */
  attention: readonly SiteRow[];
  /** More sites wait for a person than are in `attention`. */
  moreAttention: boolean;
  sites: readonly SiteRow[];
  /** How many sites are configured and match the search. */
  matching: number;
  configured: number;
  nextAfter: string | undefined;
  /** False: the namespace lacks the search attributes, so phases are unknown. */
  phasesKnown: boolean;
};

type SiteListDeps = {
  client: Client;
  config: GalleyConfig;
  gateway: Pick<TemporalGateway, 'queryState' | 'listRunning'>;
  searchAttributesReady: () => boolean;
  logger: Logger;
  readDeadlineMs: number;
};

/** `nowMs`: for the figures. */
type SiteList = (query: SiteListQuery, nowMs: number, statesDueMs?: number) => Promise<SiteListResult>;

/**
 * Lists sites by Temporal's visibility, whose indexes hold phase, version and link of each. Its cost doesn't depend on
 * the number of sites: a page is at most three visibility queries, and short queries of the workflows that it shows.
 */
export function createSiteList(deps: SiteListDeps): SiteList {
  const { config, searchAttributesReady } = deps;
  const names = Object.keys(config.sites).sort();

  return async ({ search, phase, after }, nowMs, statesDueMs = STATES_DUE_MS) => {
    const startedAt = performance.now();
    const phasesKnown = searchAttributesReady();
    const matching = names.filter((name) => matches(name, config.sites[name]?.domain ?? '', search));
    const rest = after === '' ? matching : matching.filter((name) => name > after);
    const isFirst = after === '' && phase === '';
    const [waiting, scan] = await Promise.all([
      isFirst && phasesKnown ? listAttention(deps, search) : [],
      scanSites(deps, rest, phase),
    ]);
    const urgent = waiting.slice(0, MAX_ATTENTION);
    const shown = new Set(urgent.map(({ site }) => site));
    const listed = [...urgent, ...scan.sites.filter(({ site }) => !shown.has(site))];
    const deadlineMs = Math.max(statesDueMs - (performance.now() - startedAt), MIN_STATES_DEADLINE_MS);
    const rows = await withStates(deps, listed, deadlineMs, nowMs);
    // The indexes lag behind, and each row is where its phase says.
    const attention = isFirst ? rows.filter(needsPerson).sort(byUrgency) : [];
    const others = rows.filter((row) => !attention.includes(row) && (phase === '' || row.phase === phase));
    return {
      attention,
      moreAttention: waiting.length > MAX_ATTENTION,
      sites: others.sort((a, b) => a.site.localeCompare(b.site)),
      matching: matching.length,
      configured: names.length,
      nextAfter: scan.nextAfter,
      phasesKnown,
    };
  };
}

function matches(name: string, domain: string, search: string): boolean {
  const wanted = search.toLowerCase();
  return name.toLowerCase().includes(wanted) || domain.toLowerCase().includes(wanted);
}

/** The next page of these sites, in their order; with a phase, those of the next `SCANNED` sites that are in it. */
async function scanSites(
  { config, gateway, readDeadlineMs }: SiteListDeps,
  rest: readonly string[],
  phase: string,
): Promise<{ sites: SiteRow[]; nextAfter: string | undefined }> {
  const scanned = rest.slice(0, phase === '' ? PAGE_SIZE : SCANNED);
  const running = await gateway.listRunning(scanned, readDeadlineMs);
  const listed = scanned.map((site) => listedOf(site, config.sites[site]?.domain, running.get(site)));
  const found = phase === '' ? listed : listed.filter((each) => each.phase === phase);
  const sites = found.slice(0, PAGE_SIZE);
  const last = found.length > PAGE_SIZE ? sites.at(-1)?.site : scanned.at(-1);
  return { sites, nextAfter: last === rest.at(-1) ? undefined : last };
}

function listedOf(site: string, domain: string | undefined, info: WorkflowExecutionInfo | undefined): SiteRow {
  // Without a workflow, nothing was published yet.
  const phase = info === undefined ? 'idle' : info.typedSearchAttributes.get(phaseKey);
  const version = info?.typedSearchAttributes.get(versionKey) ?? null;
  const linkExpiresAt = info?.typedSearchAttributes.get(linkKey)?.toISOString() ?? null;
  return { site, domain, phase, version, linkExpiresAt };
}

const phaseKey = defineSearchAttributeKey(SEARCH_ATTRIBUTES.phase, SearchAttributeType.KEYWORD);
const versionKey = defineSearchAttributeKey(SEARCH_ATTRIBUTES.version, SearchAttributeType.KEYWORD);
const linkKey = defineSearchAttributeKey(SEARCH_ATTRIBUTES.linkExpiresAt, SearchAttributeType.DATETIME);

/** Also finds sites that galley.yaml no longer has. */
async function listAttention(
  { client, config, logger, readDeadlineMs }: SiteListDeps,
  search: string,
): Promise<SiteRow[]> {
  const phases = ATTENTION_PHASES.map((phase) => `'${phase}'`).join(', ');
  const query = `WorkflowType = '${WORKFLOW_TYPES.exportSite}' AND ExecutionStatus = 'Running' AND ${SEARCH_ATTRIBUTES.phase} IN (${phases})`;
  const prefix = WORKFLOW_IDS.exportSite('');
  const list = async (): Promise<SiteRow[]> => {
    const found: SiteRow[] = [];
    for await (const info of client.workflow.list({ query, pageSize: COMPARED_ATTENTION })) {
      const site = info.workflowId.slice(prefix.length);
      const domain = siteNamed(config, site)?.domain;
      if (matches(site, domain ?? '', search)) found.push(listedOf(site, domain, info));
      if (found.length === COMPARED_ATTENTION) break;
    }
    return found;
  };
  try {
    const found = await withinDeadline(readDeadlineMs, list());
    return found.sort(byUrgency);
  } catch (error) {
    logger.warn({ error: String(error) }, 'Temporal did not list the sites that wait for a person');
    return [];
  }
}

export function needsPerson({ phase }: SiteRow): boolean {
  return ATTENTION_ORDER.includes(phase);
}

function byUrgency(a: SiteRow, b: SiteRow): number {
  return ATTENTION_ORDER.indexOf(a.phase) - ATTENTION_ORDER.indexOf(b.phase) || a.site.localeCompare(b.site);
}

/** Phases in which a site works on a publish by itself. */
const RUNNING: readonly (string | undefined)[] = [
  'exporting',
  'bundling',
  'deploying',
  'confirming',
] satisfies SitePhase[];

/** How many sites are behind, and which has waited longest; how many work on a publish; whose workflows didn't respond. */
export function summaryOf(rows: readonly SiteRow[]) {
  const behind = rows.flatMap(({ site, oldestUnserved }) => (oldestUnserved ? [{ site, at: oldestUnserved.at }] : []));
  const [oldest] = behind.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const unknown = rows.filter(({ phase, oldestUnserved }) => phase !== 'idle' && oldestUnserved === undefined).length;
  return {
    behind: behind.length,
    oldest,
    unknown,
    running: rows.filter(({ phase }) => RUNNING.includes(phase)).length,
  };
}

const briefState = siteState.extend({ figures: siteFigures.nullable().optional() });

/** The rows, with all that the workflows say which respond in time. */
function withStates(
  { gateway }: SiteListDeps,
  listed: readonly SiteRow[],
  deadlineMs: number,
  nowMs: number,
): Promise<SiteRow[]> {
  // Each has the same deadline, so the slowest ends soon after the others.
  const queries = listed.map(async (row): Promise<SiteRow> => {
    if (row.phase === 'idle' && row.version === null) return row;
    const state = await gateway.queryState(row.site, { brief: true, nowMs }, deadlineMs).catch(() => undefined);
    const parsed = briefState.safeParse(state);
    if (!parsed.success) return row;
    const { phase, version, linkExpiresAt, oldestUnserved, deliveries, lastError, figures = null } = parsed.data;
    const last = { lastPublishAt: deliveries[0]?.at ?? null, lastError: lastError?.message ?? null };
    return { ...row, phase, version, linkExpiresAt, oldestUnserved, ...last, figures };
  });
  return Promise.all(queries);
}

/** The phase of a filter; empty for any other text. */
export function phaseFilter(text: string): SitePhase | '' {
  const phase = sitePhase.safeParse(text);
  return phase.success ? phase.data : '';
}
