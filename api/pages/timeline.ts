import type { DeploymentStatus, ExportRecord, RefreshRecord, SiteState } from '../../contract/site-state.ts';

export type StageName = 'quiet' | 'export' | 'deploy' | 'served';

/** `ended`: complete; `running`: under way; `failed`: it stopped here; `waiting`: not reached yet. */
type StageStatus = 'ended' | 'running' | 'failed' | 'waiting';

/** One stage of a publish. The times are null as far as they haven't come. */
export type TimelineStage = {
  name: StageName;
  status: StageStatus;
  fromMs: number | null;
  toMs: number | null;
};

/** How an export ended, unless it is served or under way. */
export type TimelineEnd = Exclude<NonNullable<ExportRecord['outcome']>, 'served' | 'written'> | 'rolled-back';

export type Timeline = {
  /** Null: the publish still waits for its export. */
  number: number | null;
  stages: readonly TimelineStage[];
  refreshes: readonly RefreshRecord[];
  end: TimelineEnd | null;
  error: string | null;
};

/**
 * The way of one export, from its oldest delivery to the refreshes of its link: the export with this number, or the
 * newest. Publishes that wait are newer than any export. Undefined if there is none.
 */
export function timelineOf(state: SiteState, number: number | undefined, nowMs: number): Timeline | undefined {
  const waiting = number === undefined ? waitingSinceMs(state) : undefined;
  if (waiting !== undefined) return timelineOfWaiting(waiting);
  const index = number === undefined ? 0 : state.exports.findIndex((each) => each.number === number);
  const record = state.exports[index];
  if (record === undefined) return undefined;
  const served = servedTimes(state, record, state.exports.slice(0, index));
  const refreshes = state.refreshes.filter(
    ({ at }) => served !== null && Date.parse(at) >= served.fromMs && Date.parse(at) < (served.toMs ?? Infinity),
  );
  return {
    number: record.number,
    stages: stagesOf(state, record, served, nowMs),
    refreshes: refreshes.toReversed(),
    end: endOf(state, record),
    error: record.error,
  };
}

/** Whether a deployment has the version of this export now. */
function isDeployed({ deployments }: SiteState, { jobId }: ExportRecord): boolean {
  return jobId !== null && deployments.some((each) => each.jobId === jobId);
}

function endOf(state: SiteState, record: ExportRecord): TimelineEnd | null {
  const { outcome, rolledBackAt } = record;
  if (rolledBackAt !== null && !isDeployed(state, record)) return 'rolled-back';
  return outcome === 'served' || outcome === 'written' ? null : outcome;
}

/** The oldest delivery that no export has collected, while the site waits for its quiet period. */
function waitingSinceMs({ phase, deliveries, exports }: SiteState): number | undefined {
  if (phase !== 'debouncing' && phase !== 'paused') return undefined;
  if (exports.some(({ endedAt }) => endedAt === null)) return undefined;
  const waiting = deliveries.filter(({ exportNumber }) => exportNumber === null);
  const oldest = waiting.at(-1);
  return oldest === undefined ? undefined : Date.parse(oldest.at);
}

function timelineOfWaiting(fromMs: number): Timeline {
  const later = (name: StageName): TimelineStage => ({ name, status: 'waiting', fromMs: null, toMs: null });
  const quiet: TimelineStage = { name: 'quiet', status: 'running', fromMs, toMs: null };
  const stages = [quiet, later('export'), later('deploy'), later('served')];
  return { number: null, stages, refreshes: [], end: null, error: null };
}

type ServedTimes = { fromMs: number; toMs: number | null };

/**
 * From when to when the version was served, with `toMs` null while a deployment has it. After a rollback to it, since then.
 * Null if it was never served.
 */
function servedTimes(state: SiteState, record: ExportRecord, newer: readonly ExportRecord[]): ServedTimes | null {
  const fromMs = servedMs(state, record);
  if (fromMs === null) return null;
  if (isDeployed(state, record)) {
    const rollbacksMs = newer.map(({ rolledBackAt }) => msOf(rolledBackAt) ?? fromMs);
    return { fromMs: Math.max(fromMs, ...rollbacksMs), toMs: null };
  }
  const next = newer.findLast((each) => servedMs(state, each) !== null);
  return { fromMs, toMs: msOf(record.rolledBackAt) ?? (next ? servedMs(state, next) : null) };
}

/** When the version was first seen served; without a `statusUrl`, when it was first written. */
function servedMs({ confirmed }: SiteState, { servedAt, writtenAt, outcome }: ExportRecord): number | null {
  return msOf(servedAt) ?? (confirmed === null || outcome === 'written' ? msOf(writtenAt) : null);
}

/** What a deployment does while the version that it should have isn't served yet. */
const BUSY: readonly DeploymentStatus[] = ['writing', 'confirming', 'unknown', 'proposed', 'failed'];

function stagesOf(state: SiteState, record: ExportRecord, served: ServedTimes | null, nowMs: number): TimelineStage[] {
  const { requestedAt, startedAt, exportedAt, endedAt, rolledBackAt, outcome, jobId } = record;
  const stage = (name: StageName, fromMs: number | null, toMs: number | null): TimelineStage => {
    if (fromMs === null) return { name, status: 'waiting', fromMs, toMs: null };
    if (toMs !== null) return { name, status: 'ended', fromMs, toMs };
    return name === 'served' || (outcome === null && rolledBackAt === null)
      ? { name, status: 'running', fromMs, toMs }
      : { name, status: 'failed', fromMs, toMs: msOf(rolledBackAt ?? endedAt) ?? nowMs };
  };
  const isBeingDeployed = state.deployments.some((each) => each.desired.jobId === jobId && BUSY.includes(each.state));
  // A person, a lock or an earlier wave may keep the deployments from it, which is no failure.
  const isKept = served === null && rolledBackAt === null && (outcome === null ? !isBeingDeployed : outcome === 'held');
  return [
    stage('quiet', msOf(requestedAt), msOf(startedAt)),
    stage('export', msOf(startedAt), msOf(exportedAt)),
    stage('deploy', isKept ? null : msOf(exportedAt), servedMs(state, record)),
    stage('served', served?.fromMs ?? null, served?.toMs ?? null),
  ];
}

function msOf(at: string | null): number | null {
  const ms = at === null ? Number.NaN : Date.parse(at);
  return Number.isNaN(ms) ? null : ms;
}

/**
 * The widths of the stages in a picture, together 1. They grow with the logarithm of the time, because a quiet period of
 * seconds and a week of being served must both be visible.
 */
export function stageWidths(stages: readonly TimelineStage[], nowMs: number): number[] {
  const weights = stages.map(({ fromMs, toMs }) => {
    const seconds = fromMs === null ? 0 : Math.max(0, (toMs ?? nowMs) - fromMs) / 1000;
    return 3 + Math.log1p(seconds);
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
