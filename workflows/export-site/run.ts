import type { CancellationScope } from '@temporalio/workflow';
import { EXPORT_DEFAULTS } from '../../contract/export-defaults.ts';
import type { SiteSettings } from '../../contract/settings.ts';
import type { SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import { type EntityRun, newEntityRun } from '../entity/continue-as-new.ts';
import { createLinkDesk, type LinkDesk } from './links.ts';
import type { AskStep, WriteStep } from './next-steps.ts';
import type { Rename } from './rename.ts';
import type { MutableState } from './state.ts';
import type { ObservedSite } from './status.ts';

/** A step of a deployment that is under way. `preparing`: it has changed nothing outside yet. */
export type Lane = {
  jobId: string;
  does: (WriteStep | AskStep)['do'];
  scope: CancellationScope;
  stage: 'preparing' | 'writing';
};
type Lanes = { write: Lane | null; ask: Lane | null };

/** One run of the workflow. Only `state` and `seen` are handed to the next run. */
export type SiteRun = EntityRun & {
  readonly site: string;
  readonly state: MutableState;
  readonly seen: SeenDeliveries;
  settings: SiteSettings;
  /** Scope of the running export: a rollback cancels it. */
  exportScope: CancellationScope | null;
  readonly links: LinkDesk;
  /** What is under way for each deployment, by its place. */
  readonly lanes: Map<string, Lanes>;
  /** How many calls of the site to each kind of outside system are under way (slots.ts). */
  readonly calls: Map<string, number>;
  /** Counts the changes after which the next steps of the deployments may be others. */
  changes: number;
  /** The run ends soon and begins nothing. */
  draining: boolean;
  /** An error that no step expects: it fails the workflow task. */
  bug: unknown;
  /** An operator removed the site: the workflow ends. */
  removed: boolean;
  /** An operator renames the site. */
  rename: Rename | null;
  /** Actions of operators that wait for their effect. */
  acting: number;
  /** The publishes that arrive after the removal: the next run begins with them. */
  successor: { state: MutableState; seen: SeenDeliveries } | null;
};

export function newRun(site: string, state: MutableState, seen: SeenDeliveries): SiteRun {
  return {
    ...newEntityRun(),
    site,
    state,
    seen,
    settings: state.settings ?? unreadSettings(site),
    exportScope: null,
    links: createLinkDesk(state),
    lanes: new Map(),
    calls: new Map(),
    changes: 0,
    draining: false,
    bug: undefined,
    removed: false,
    rename: null,
    acting: 0,
    successor: null,
  };
}

export function lanesOf({ lanes }: Pick<SiteRun, 'lanes'>, place: string): Lanes {
  const known = lanes.get(place) ?? { write: null, ask: null };
  lanes.set(place, known);
  return known;
}

/** The site as pages, metrics and mails show it. */
export function observed({ site, state, settings, lanes }: SiteRun): ObservedSite {
  return { site, state, settings, isWriting: (place) => lanes.get(place)?.write?.stage === 'writing' };
}

/** Used until a worker knows the settings; publishes wait until then. */
function unreadSettings(site: string): SiteSettings {
  return {
    ...EXPORT_DEFAULTS,
    domain: site,
    minRefreshIntervalMs: 30_000,
    deployments: [],
    operators: [],
    tellAfterMs: 0,
    notify: [],
    searchAttributes: false,
  };
}
