import { TARGETS } from '../../../contract/target-kind.ts';
import type { Witness, World } from './model-witness.ts';
import { endPullRequest, LINK_LIFE_MS, type Place, serve } from './simulated-place.ts';

/**
 * The commands of a sequence: what operators, the service, deployments and the clock do. They act on a simulated site, or on a
 * workflow in a simulated world.
 */

/** Whether something was done; a promise for a workflow. */
export type Outcome = boolean | Promise<boolean>;

/** Each of these tells the witness what it did. */
export type PlayedSite = World & {
  isWorkerAway: boolean;
  publish(): Outcome;
  /** The running export ends, or the one that waits as soon as it is due. */
  endExport(how: ExportEnd): Outcome;
  /** Without a place: the export that a guard holds, otherwise all deployments that wait. */
  decide(how: 'approve' | 'reject', place?: Place): Outcome;
  rollBack(version: string, locks: boolean): Outcome;
  lock(): Outcome;
  unlock(): Outcome;
  pause(paused: boolean): Outcome;
  remove(): Outcome;
  refresh(): Outcome;
  continueAsNew(): Outcome;
  /** An operator changed the pin or the switch in the file. */
  switched(place: Place): Outcome;
  /** galley.yaml lists it for the site, or for another one, which writes it. */
  setListed(place: Place, isListed: boolean): Outcome;
  /** Another site writes its own version to the file. */
  writeByOther(place: Place): Outcome;
  pass(ms: number): Outcome;
  /** After a change of the world. */
  settle(): Outcome;
  /** What keeps publishes from being served: a running export, a pause, or failures of exports and links. */
  hindrances(): { exports: boolean; isPaused: boolean; fails: boolean };
};

export type ExportEnd = 'released' | 'failed' | 'held';

type Context = { site: PlayedSite; model: Witness; place: Place; which: number };
type Command = (context: Context) => Outcome;

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Each with its weight, so that the states that matter are frequent. */
const COMMANDS: [name: string, weight: number, command: Command][] = [
  ['nothing', 1, () => false],
  ['publish', 8, ({ site }) => site.publish()],
  ['export ends', 12, ({ site }) => site.endExport('released')],
  ['export fails', 2, ({ site }) => site.endExport('failed')],
  ['export is held', 3, ({ site }) => site.endExport('held')],
  ['approve', 4, ({ site }) => site.decide('approve')],
  ['reject', 2, ({ site }) => site.decide('reject')],
  ['approve one', 2, ({ site, place }) => site.decide('approve', place)],
  ['reject one', 2, ({ site, place }) => site.decide('reject', place)],
  ['roll back', 2, (context) => rollBack(context, false)],
  ['roll back and lock', 2, (context) => rollBack(context, true)],
  ['lock', 2, ({ site }) => site.lock()],
  ['unlock', 3, ({ site }) => site.unlock()],
  ['pin', 2, ({ place, site, model, which }) => pin(place, site, versionOf(model, which) ?? 'v0')],
  ['pin an unknown version', 2, ({ place, site }) => pin(place, site, 'v0')],
  ['unpin', 3, ({ place, site }) => pin(place, site, null)],
  ['off', 2, ({ place, site }) => switchOff(place, site, true)],
  ['on', 3, ({ place, site }) => switchOff(place, site, false)],
  ['pause', 2, ({ site }) => site.pause(true)],
  ['resume', 3, ({ site }) => site.pause(false)],
  ['remove', 1, ({ site }) => site.remove()],
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
  ['refresh', 2, ({ site }) => site.refresh()],
  ['continue as new', 1, ({ site }) => site.continueAsNew()],
  ['a second', 5, ({ site }) => site.pass(SECOND_MS)],
  ['a minute', 7, ({ site }) => site.pass(MINUTE_MS)],
  ['an hour', 2, ({ site }) => site.pass(HOUR_MS)],
  ["most of a link's life", 1, ({ site }) => site.pass(0.9 * LINK_LIFE_MS)],
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

export function readCommand(code: number, places: readonly Place[]): Played {
  const [name, , command] = SLOTS[Math.floor(code / VARIANTS)] ?? ['nothing', 1, () => false];
  const variant = code % VARIANTS;
  const place = places[variant % places.length];
  if (place === undefined) throw new Error('a site without places');
  return { name, command, place, variant, didSomething: undefined };
}

export function playCommand({ command, place, variant }: Played, site: PlayedSite, model: Witness): Outcome {
  model.commanded();
  return command({ site, model, place, which: Math.floor(variant / site.places.length) });
}

function rollBack({ site, model, which }: Context, locks: boolean): Outcome {
  const version = versionOf(model, which + 1);
  const found = site.service.jobs.find((job) => job.version === version);
  if (!site.isRunning || version === null || found === undefined || site.service.gone.has(found.jobId)) return false;
  return site.rollBack(version, locks);
}

/** The version that was exported last (0), the one before, and so on. */
function versionOf(model: Witness, back: number): string | null {
  return model.versions().at(-1 - back)?.version ?? null;
}

function pin(place: Place, site: PlayedSite, version: string | null): Outcome {
  if (!TARGETS[place.settings.kind].hasSwitches || place.pin === version) return false;
  place.pin = version;
  return site.switched(place);
}

function switchOff(place: Place, site: PlayedSite, isOff: boolean): Outcome {
  if (!TARGETS[place.settings.kind].hasSwitches || place.file === null || place.isOff === isOff) return false;
  place.isOff = isOff;
  return site.switched(place);
}

function moveWorker(site: PlayedSite, isAway: boolean): boolean {
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

function setLinks({ service }: PlayedSite, refuses: boolean): boolean {
  const isSame = service.refuses === refuses && (refuses || service.gone.size === 0);
  service.refuses = refuses;
  if (!refuses) service.gone.clear();
  return !isSame;
}

/** Of all jobs, or of the newest one. */
function loseLinks({ service }: PlayedSite, which: number): boolean {
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

function moveAway({ site, place }: Context): Outcome {
  if (!place.listed || place.otherLists) return false;
  place.otherLists = true;
  return site.setListed(place, false);
}

function listTwice(place: Place, site: PlayedSite): Outcome {
  if (!place.listed || place.otherLists) return false;
  place.otherLists = true;
  return site.writeByOther(place);
}

function moveBack({ site, place }: Context): Outcome {
  if (!place.otherLists) return false;
  place.otherLists = false;
  return site.setListed(place, true);
}
