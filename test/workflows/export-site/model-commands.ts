import { desiredVersion } from '../../../workflows/export-site/desired-version.ts';
import { lockSite, rememberJob, rollBackTo, unlockSite } from '../../../workflows/export-site/jobs.ts';
import type { MutableDeployment } from '../../../workflows/export-site/state.ts';
import { dropExports, endReview, releaseReview, setPaused } from '../../../workflows/export-site/transitions.ts';
import type { Witness } from './model-witness.ts';
import { endPullRequest, type Place, serve } from './simulated-place.ts';
import { LINK_LIFE_MS, type SimulatedSite } from './simulated-site.ts';

/** The commands of a sequence: what operators, the service, deployments and the clock do. */

type Context = { site: SimulatedSite; model: Witness; place: Place; which: number };
/** Returns false if there was nothing to do. */
type Command = (context: Context) => boolean;

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const by = { by: 'an operator', at: '2026-11-21T12:00:00.000Z', reason: null };

/** Each with its weight, so that the states that matter are frequent. */
const COMMANDS: [name: string, weight: number, command: Command][] = [
  ['nothing', 1, () => false],
  ['publish', 8, ({ site }) => site.publish() === undefined],
  ['export ends', 12, ({ site }) => endExport(site, 'released')],
  ['export fails', 2, ({ site }) => endExport(site, 'failed')],
  ['export is held', 3, ({ site }) => endExport(site, 'held')],
  ['approve', 4, (context) => approve(context)],
  ['reject', 2, (context) => reject(context)],
  ['approve one', 2, (context) => approve(context, context.place)],
  ['reject one', 2, (context) => reject(context, context.place)],
  ['roll back', 2, (context) => rollBack(context, false)],
  ['roll back and lock', 2, (context) => rollBack(context, true)],
  ['lock', 2, ({ site, model }) => lock(site, model)],
  ['unlock', 3, ({ site, model }) => unlock(site, model)],
  ['pin', 2, ({ place, site, model, which }) => pin(place, site, versionOf(model, which) ?? 'v0')],
  ['pin an unknown version', 2, ({ place, site }) => pin(place, site, 'v0')],
  ['unpin', 3, ({ place, site }) => pin(place, site, null)],
  ['off', 2, ({ place, site }) => switchOff(place, site, true)],
  ['on', 3, ({ place, site }) => switchOff(place, site, false)],
  ['pause', 2, ({ site }) => pause(site, true)],
  ['resume', 3, ({ site }) => pause(site, false)],
  ['remove', 1, ({ site, model }) => remove(site, model)],
  ['worker away', 2, ({ site }) => moveWorker(site, true)],
  ['worker back', 4, ({ site }) => moveWorker(site, false)],
  ['answers new', 4, ({ place }) => answer(place, 'new')],
  ['answers old', 3, ({ place }) => answer(place, 'old')],
  ['answers an error', 2, ({ place }) => answer(place, 'error')],
  ['answers nothing', 2, ({ place }) => answer(place, 'nothing')],
  ['links refused', 2, ({ site }) => setLinks(site, true)],
  ['links gone', 2, ({ site, which }) => loseLinks(site, which)],
  ['links given again', 4, ({ site }) => setLinks(site, false)],
  ['writes fail', 2, ({ place }) => breakPlace(place, true)],
  ['writes work', 4, ({ place }) => breakPlace(place, false)],
  ['pull request merged', 4, ({ place }) => endProposal(place, 'merged')],
  ['pull request closed', 2, ({ place }) => endProposal(place, 'closed')],
  ['file moves away', 2, (context) => moveAway(context)],
  ['file is listed twice', 2, ({ place, site }) => listTwice(place, site)],
  ['file moves back', 4, (context) => moveBack(context)],
  ['refresh', 2, ({ site }) => refresh(site)],
  ['continue as new', 1, ({ site }) => site.isRunning && site.continueAsNew() === undefined],
  ['a second', 5, ({ site }) => pass(site, SECOND_MS)],
  ['a minute', 7, ({ site }) => pass(site, MINUTE_MS)],
  ['an hour', 2, ({ site }) => pass(site, HOUR_MS)],
  ["most of a link's life", 1, ({ site }) => pass(site, 0.9 * LINK_LIFE_MS)],
];

const SLOTS = COMMANDS.flatMap((command) => Array.from({ length: command[1] }, () => command));
const VARIANTS = 6;
export const COMMAND_NAMES = COMMANDS.slice(1).map(([name]) => name);

/** Each number below is a command; 0 does nothing. */
export const COMMAND_COUNT = SLOTS.length * VARIANTS;

/** The number of a command, to repeat a case. */
export function codeOf(name: string, variant = 0): number {
  return SLOTS.findIndex(([each]) => each === name) * VARIANTS + variant;
}

/** `didSomething` is undefined until it has been played. */
export type Played = {
  name: string;
  command: Command;
  place: Place;
  variant: number;
  didSomething: boolean | undefined;
};

export function readCommand(code: number, { places }: SimulatedSite): Played {
  const [name, , command] = SLOTS[Math.floor(code / VARIANTS)] ?? ['nothing', 1, () => false];
  const variant = code % VARIANTS;
  const place = places[variant % places.length];
  if (place === undefined) throw new Error('a site without places');
  return { name, command, place, variant, didSomething: undefined };
}

export function playCommand(played: Played, site: SimulatedSite, model: Witness): void {
  const { place, variant } = played;
  model.commanded();
  played.didSomething = played.command({ site, model, place, which: Math.floor(variant / site.places.length) });
  if (site.isRunning) site.changed();
}

function endExport(site: SimulatedSite, how: 'released' | 'failed' | 'held'): boolean {
  if (!site.isRunning || (site.state.exporting === null && site.state.pending === null)) return false;
  site.endExport(how);
  return true;
}

/** Without a place: the export that a guard holds, otherwise all deployments that wait. */
function approve({ site, model }: Context, place?: Place): boolean {
  const { state } = site;
  if (place === undefined && state.review !== null) {
    if (site.service.refuses || site.service.gone.has(state.review.jobId)) return false;
    releaseReview(state);
    model.reviewEnded('approved');
    return true;
  }
  return decide(site, place, (deployment, jobId, at) => {
    deployment.approved = jobId;
    model.approved(at, jobId);
  });
}

function reject({ site, model }: Context, place?: Place): boolean {
  const { state } = site;
  if (place === undefined && state.review !== null) {
    endReview(state, 'rejected');
    model.reviewEnded('rejected');
    return true;
  }
  return decide(site, place, (deployment, jobId, at) => {
    deployment.rejected = jobId;
    model.rejected(at, jobId);
  });
}

function decide(
  { state, places, isRunning }: SimulatedSite,
  only: Place | undefined,
  act: (deployment: MutableDeployment, jobId: string, place: Place) => void,
): boolean {
  if (!isRunning) return false;
  let acted = false;
  for (const deployment of state.deployments) {
    const place = places.find(({ name }) => name === deployment.place);
    const { reason, waitsFor } = desiredVersion(state, deployment);
    if (place === undefined || (only !== undefined && only !== place)) continue;
    if (reason !== 'waits-for-approval' || waitsFor === null) continue;
    act(deployment, waitsFor.jobId, place);
    acted = true;
  }
  return acted;
}

/** As `rollBack` of commands.ts. */
function rollBack({ site, model, which }: Context, locks: boolean): boolean {
  const { state, service, isRunning } = site;
  const version = versionOf(model, which + 1);
  const found = service.jobs.find((job) => job.version === version);
  if (!isRunning || found === undefined || service.gone.has(found.jobId)) return false;
  const after = state.accepted;
  const known = state.jobs.find((job) => job.version === version);
  const job = known ?? { ...found, upTo: 0, oldestPublishMs: null };
  rememberJob(state, job);
  if (locks) lockSite(state, by);
  rollBackTo(state, { ...by, jobId: job.jobId, after });
  dropExports(state, after);
  model.rolledBack(job.jobId, model.accepted, locks);
  return true;
}

/** The version that was exported last (0), the one before, and so on. */
function versionOf(model: Witness, back: number): string | null {
  return model.versions().at(-1 - back)?.version ?? null;
}

function lock({ state, isRunning }: SimulatedSite, model: Witness): boolean {
  if (!isRunning) return false;
  lockSite(state, by);
  model.locked();
  return true;
}

function unlock({ state, isRunning }: SimulatedSite, model: Witness): boolean {
  if (!isRunning || state.lock === null) return false;
  unlockSite(state);
  model.unlocked();
  return true;
}

function pin(place: Place, { nowMs }: SimulatedSite, version: string | null): boolean {
  if (place.settings.kind === 'directory' || place.pin === version) return false;
  place.pin = version;
  place.announcedAtMs = nowMs + SECOND_MS;
  return true;
}

function switchOff(place: Place, { nowMs }: SimulatedSite, isOff: boolean): boolean {
  if (place.settings.kind === 'directory' || place.file === null || place.isOff === isOff) return false;
  place.isOff = isOff;
  place.announcedAtMs = nowMs + SECOND_MS;
  return true;
}

function pause({ state, isRunning }: SimulatedSite, paused: boolean): boolean {
  if (!isRunning || state.paused === paused) return false;
  setPaused(state, paused);
  return true;
}

function remove(site: SimulatedSite, model: Witness): boolean {
  if (!site.isRunning) return false;
  site.remove();
  model.removed();
  return true;
}

function moveWorker(site: SimulatedSite, isAway: boolean): boolean {
  if (site.isWorkerAway === isAway) return false;
  site.isWorkerAway = isAway;
  return true;
}

function answer(place: Place, answers: Place['answers']): boolean {
  if (place.answers === answers) return false;
  place.answers = answers;
  serve(place);
  return true;
}

function setLinks({ service }: SimulatedSite, refuses: boolean): boolean {
  const isSame = service.refuses === refuses && (refuses || service.gone.size === 0);
  service.refuses = refuses;
  if (!refuses) service.gone.clear();
  return !isSame;
}

/** Of all jobs, or of the newest one. */
function loseLinks({ service }: SimulatedSite, which: number): boolean {
  const lost = which === 0 ? service.jobs.slice(-1) : service.jobs;
  for (const { jobId } of lost) service.gone.add(jobId);
  return lost.length > 0;
}

function breakPlace(place: Place, breaks: boolean): boolean {
  if (place.breaks === breaks) return false;
  place.breaks = breaks;
  return true;
}

function endProposal(place: Place, end: 'merged' | 'closed'): boolean {
  if (place.pullRequest === null) return false;
  endPullRequest(place, end);
  return true;
}

/** galley.yaml lists it for another site, which writes it. */
function moveAway({ site, model, place }: Context): boolean {
  if (!place.listed || place.otherLists) return false;
  place.listed = false;
  place.otherLists = true;
  model.forgotten(place);
  site.writeByOther(place);
  if (site.isRunning) site.configure();
  return true;
}

function listTwice(place: Place, site: SimulatedSite): boolean {
  if (!place.listed || place.otherLists) return false;
  place.otherLists = true;
  site.writeByOther(place);
  return true;
}

function moveBack({ site, place }: Context): boolean {
  if (!place.otherLists) return false;
  place.otherLists = false;
  if (place.listed) return true;
  place.listed = true;
  if (site.isRunning) site.configure();
  return true;
}

function refresh({ state, isRunning, nowMs }: SimulatedSite): boolean {
  if (!isRunning || state.newest === null) return false;
  state.refreshAskedMs = nowMs;
  for (const trouble of Object.values(state.linkTrouble)) trouble.notBeforeMs = 0;
  for (const each of state.deployments) if (each.trouble !== null) each.trouble.notBeforeMs = 0;
  return true;
}

function pass(site: SimulatedSite, ms: number): boolean {
  site.advance(site.nowMs + ms);
  return true;
}
