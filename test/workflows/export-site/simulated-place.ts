import type { DeploymentReport, DeploymentWrite } from '../../../activities/deployments/deployment-target.ts';
import {
  orderOf,
  ownerOf,
  refusalOf,
  type WrittenOrder,
  writtenReport,
} from '../../../activities/deployments/write-order.ts';
import { EXPORT_DEFAULTS } from '../../../contract/export-defaults.ts';
import type { DeploymentSettings } from '../../../contract/settings.ts';
import { TARGETS } from '../../../contract/target-kind.ts';
import type { AskStep, WriteStep } from '../../../workflows/export-site/next-steps.ts';
import type { HeldLink, Job, MutableDeployment } from '../../../workflows/export-site/state.ts';

/** One simulated deployment: its file with the fence, its pull request, what it serves, and the steps under way for it. */

export const START_MS = Date.UTC(2026, 10, 21, 12);
export const LINK_LIFE_MS = 90 * 60_000;
export const CONFIRM_WITHIN_MS = 5 * 60_000;
export const WRITE_MS = { valuesFile: 100, directory: 20_000, git: 20_000 };
export const SETTINGS = { ...EXPORT_DEFAULTS, minRefreshIntervalMs: 30_000 };

const OTHER_SITE = 'other';

export type PlaceSettings = Pick<DeploymentSettings, 'wave' | 'approve' | 'confirm'> & {
  kind: 'valuesFile' | 'directory' | 'git';
};

/** What a write leaves behind. */
export type Order = WrittenOrder & { link: HeldLink };

export type WriteInput = { write: DeploymentWrite; job: Job; link: HeldLink };

/** `link`: it waits for the call to the service. */
export type WriteLane = { deployment: MutableDeployment; jobId: string; endsAtMs: number } & (
  | { does: 'search'; stage: 'preparing'; version: string }
  | { does: 'link'; stage: 'preparing'; step: Extract<WriteStep, { job: Job }> }
  | { does: 'write'; stage: 'writing'; input: WriteInput; fails: string | null }
);

/** Only time in which a worker could ask counts; `otherMs`: for how much of it the deployment said that it serves another version. */
export type AskLane = {
  deployment: MutableDeployment;
  jobId: string;
  does: AskStep['do'];
  until: Extract<AskStep, { do: 'ask' }>['until'] | 'proposal';
  earliestMs: number;
  askedMs: number;
  otherMs: number;
};

export type Place = {
  readonly name: string;
  readonly settings: PlaceSettings;
  /** The site lists it; another site does. */
  listed: boolean;
  otherLists: boolean;
  /** What operators set in the file, and when a worker announces it. */
  pin: string | null;
  isOff: boolean;
  announcedAtMs: number;
  file: Order | null;
  pullRequest: Order | null;
  /** What a person did with the pull request. */
  proposalEnd: 'merged' | 'closed' | null;
  answers: 'new' | 'old' | 'error' | 'nothing';
  serves: string | null;
  breaks: boolean;
  write: WriteLane | null;
  ask: AskLane | null;
};

export function newPlace(name: string, settings: PlaceSettings): Place {
  return {
    name,
    settings,
    listed: true,
    otherLists: false,
    pin: null,
    isOff: false,
    announcedAtMs: Number.POSITIVE_INFINITY,
    file: null,
    pullRequest: null,
    proposalEnd: null,
    answers: 'new',
    serves: null,
    breaks: false,
    write: null,
    ask: null,
  };
}

/** What the file has is served, unless the deployment is stuck. */
export function serve(place: Place): void {
  if (place.answers !== 'old') place.serves = place.file?.jobId ?? null;
}

/** One call of the writing activity, with the product's rules for its fence (write-order.ts) and its pin (plan-edit.ts). */
export function writeTo(place: Place, { write, link }: Pick<WriteInput, 'write' | 'link'>): DeploymentReport {
  const { kind } = place.settings;
  const current = place.pullRequest ?? place.file;
  const { hasSwitches } = TARGETS[kind];
  const switches = { pin: hasSwitches ? place.pin : null, off: hasSwitches && place.isOff };
  const refusal = refusalOf(write, current) ?? (hasSwitches ? pinRefusal(place, write) : null);
  if (refusal !== null) {
    const owner = current && ownerOf(current);
    return { outcome: refusal, ...switches, jobId: place.file?.jobId ?? null, owner, bundlePath: null };
  }
  const order = { ...orderOf(write, current), link };
  const written = { ...writtenReport(write), ...switches };
  const { file } = place;
  if (kind === 'git' && !(file?.jobId === write.jobId && file.link.obtainedAtMs >= link.obtainedAtMs)) {
    place.pullRequest = order;
    place.proposalEnd = null;
    return { ...written, outcome: 'proposed', url: 'https://forge.example.com/1' };
  }
  place.file = order;
  place.pullRequest = null;
  serve(place);
  return written;
}

function pinRefusal({ pin }: Place, { kind, newest, version }: DeploymentWrite): DeploymentReport['outcome'] | null {
  if (kind === 'refresh') return null;
  if (newest && pin !== null && pin !== version) return 'held';
  return !newest && pin !== version ? 'unpinned' : null;
}

/** A person merged the pull request, or closed it. */
export function endPullRequest(place: Place, end: 'merged' | 'closed'): void {
  if (place.pullRequest === null) return;
  if (end === 'merged') {
    place.file = place.pullRequest;
    serve(place);
  }
  place.pullRequest = null;
  place.proposalEnd = end;
}

/** Another site writes its own version to the file. */
export function writeByOther(place: Place, link: HeldLink): void {
  place.file = {
    site: OTHER_SITE,
    epoch: (place.file?.epoch ?? START_MS) + 1,
    sequence: 1,
    jobId: 'other',
    version: 'other',
    newestJobAt: null,
    expiresAt: link.expiresAt ?? '',
    lifetimeMs: link.lifetimeMs,
    link,
  };
  endPullRequest(place, 'closed');
  serve(place);
}

/** What its status says of the job. */
export function answerOf({ answers, serves }: Place, jobId: string): 'served' | 'other' | 'unknown' {
  if (answers === 'error' || answers === 'nothing') return 'unknown';
  return serves === jobId ? 'served' : 'other';
}
