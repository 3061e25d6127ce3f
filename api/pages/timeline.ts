import type { ExportRecord, RefreshRecord, SiteState } from '../../contract/site-state.ts';

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

export type Timeline = {
  /** Null: the publish still waits for its export. */
  number: number | null;
  stages: readonly TimelineStage[];
  refreshes: readonly RefreshRecord[];
  /** How it ended, unless it is served or under way. */
  outcome: ExportRecord['outcome'] | null;
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
  const replacedAtMs = nextDeployMs(state.exports.slice(0, index));
  const stages = stagesOf(record, replacedAtMs, nowMs);
  const servedMs = msOf(record.deployedAt);
  const refreshes = state.refreshes
    .filter(({ at }) => servedMs !== null && Date.parse(at) >= servedMs && Date.parse(at) < (replacedAtMs ?? Infinity))
    .toReversed();
  const isDone = record.outcome === 'running' || record.outcome === 'deployed';
  return {
    number: record.number,
    stages,
    refreshes,
    outcome: isDone ? null : record.outcome,
    error: record.error,
  };
}

/** The oldest delivery that no export has collected, while the site waits for its quiet period. */
function waitingSinceMs({ phase, deliveries, exports }: SiteState): number | undefined {
  if (phase !== 'debouncing' && phase !== 'paused') return undefined;
  if (exports.some(({ outcome }) => outcome === 'running')) return undefined;
  const waiting = deliveries.filter(({ exportNumber }) => exportNumber === null);
  const oldest = waiting.at(-1);
  return oldest === undefined ? undefined : Date.parse(oldest.at);
}

function timelineOfWaiting(fromMs: number): Timeline {
  const later = (name: StageName): TimelineStage => ({ name, status: 'waiting', fromMs: null, toMs: null });
  const quiet: TimelineStage = { name: 'quiet', status: 'running', fromMs, toMs: null };
  const stages = [quiet, later('export'), later('deploy'), later('served')];
  return { number: null, stages, refreshes: [], outcome: null, error: null };
}

/** Says when the next newer export replaced this one; null if it is still the newest. */
function nextDeployMs(newer: readonly ExportRecord[]): number | null {
  const next = newer.findLast(({ deployedAt }) => deployedAt !== null);
  return msOf(next?.deployedAt ?? null);
}

function stagesOf(record: ExportRecord, replacedAtMs: number | null, nowMs: number): TimelineStage[] {
  const [requestedMs, startedMs, exportedMs, deployedMs, endedMs] = [
    ...[record.requestedAt, record.startedAt, record.exportedAt, record.deployedAt, record.endedAt].map(msOf),
  ];
  const isRunning = record.outcome === 'running';
  const stage = (name: StageName, fromMs: number | null, toMs: number | null): TimelineStage => {
    if (fromMs === null) return { name, status: 'waiting', fromMs, toMs: null };
    if (toMs !== null) return { name, status: 'ended', fromMs, toMs };
    // A held export waits for a person, which is no failure.
    if (record.outcome === 'review') return { name, status: 'waiting', fromMs: null, toMs };
    return isRunning
      ? { name, status: 'running', fromMs, toMs }
      : { name, status: 'failed', fromMs, toMs: endedMs ?? nowMs };
  };
  return [
    stage('quiet', requestedMs ?? null, startedMs ?? null),
    stage('export', startedMs ?? null, exportedMs ?? null),
    stage('deploy', exportedMs ?? null, deployedMs ?? null),
    deployedMs === null || deployedMs === undefined
      ? { name: 'served', status: 'waiting', fromMs: null, toMs: null }
      : { name: 'served', status: replacedAtMs === null ? 'running' : 'ended', fromMs: deployedMs, toMs: replacedAtMs },
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
