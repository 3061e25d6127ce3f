import type { CancellationScope } from '@temporalio/workflow';
import { EXPORT_DEFAULTS } from '../../contract/export-defaults.ts';
import type { SiteSettings } from '../../contract/settings.ts';
import type { SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import { type EntityRun, newEntityRun } from '../entity/continue-as-new.ts';
import type { State } from './state.ts';

/** One run of the workflow. Only `state` and `seen` are handed to the next run. */
export type SiteRun = EntityRun & {
  readonly site: string;
  readonly state: State;
  readonly seen: SeenDeliveries;
  settings: SiteSettings;
  /** Scope of the running export: a rollback cancels it. */
  exportScope: CancellationScope | null;
  /** Scope of the running refresh: a newer job cancels it. */
  refreshScope: CancellationScope | null;
  /** The refresh that operators wait for while another one runs. */
  nextRefresh: Promise<void> | null;
  /** Counts the changes that can bring the next refresh forward. */
  refreshChanges: number;
  /** Deploys that are running or waiting. */
  deploysWaiting: number;
  /** The last write to each deployment, by its name. */
  lastWrites: Map<string, Promise<unknown>>;
  /** The writes that may take long, by the deployment's name, and the jobs they write: a newer write cancels them. */
  longWrites: Map<string, { scope: CancellationScope; jobId: string }>;
  /** Whether a version that wasn't served in time is being rolled back. */
  rollingBack: boolean;
  /** An operator removed the site: the workflow ends. */
  removed: boolean;
  /** The publishes that arrive after the removal: the next run begins with them. */
  successor: { state: State; seen: SeenDeliveries } | null;
};

export function newRun(site: string, state: State, seen: SeenDeliveries): SiteRun {
  return {
    ...newEntityRun(),
    site,
    state,
    seen,
    settings: state.settings ?? unreadSettings(site),
    exportScope: null,
    refreshScope: null,
    nextRefresh: null,
    refreshChanges: 0,
    deploysWaiting: 0,
    lastWrites: new Map(),
    longWrites: new Map(),
    rollingBack: false,
    removed: false,
    successor: null,
  };
}

/** Used until a worker knows the settings; publishes wait until then. */
function unreadSettings(site: string): SiteSettings {
  return {
    ...EXPORT_DEFAULTS,
    domain: site,
    minRefreshIntervalMs: 30_000,
    valuesFiles: [],
    targets: [],
    pins: [],
    confirmations: [],
    operators: [],
    tellAfterMs: 0,
    notify: [],
    searchAttributes: false,
  };
}
