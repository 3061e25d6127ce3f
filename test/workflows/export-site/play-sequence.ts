import type { Arbitrary } from 'fast-check';
import type { UnservedReason } from '../../../contract/site-state.ts';
import fc from '../../helpers/fast-check.ts';
import { type Outcome, type Played, type PlayedSite, playCommand, readCommand } from './model-commands.ts';
import { createWitness, type Witness } from './model-witness.ts';
import { CONFIRM_WITHIN_MS, endPullRequest, type Place, type PlaceSettings, serve } from './simulated-place.ts';
import { simulateSite } from './simulated-site.ts';

/** Plays a sequence of commands on a simulated site, and then lets everything heal: all publishes must be served. */

const MINUTE_MS = 60_000;

/** Shrinks to a values file in the first wave without anything special. */
export const placeSettings: Arbitrary<PlaceSettings> = fc.record({
  kind: fc.constantFrom('valuesFile', 'directory', 'git'),
  wave: fc.constantFrom(1, 2),
  approve: fc.nat(3).map((number) => number === 3),
  confirm: fc.constantFrom(
    null,
    { withinMs: CONFIRM_WITHIN_MS, rollback: true },
    { withinMs: CONFIRM_WITHIN_MS, rollback: false },
  ),
});

type Options = {
  /** Commands that are left out. */
  skips?: (command: Played) => boolean;
  /** Whether the end of the sequence is checked. */
  heals?: boolean;
  onPlayed?: (played: Played) => void;
  /** How long the service takes for a link, which deployments share. */
  callMs?: number;
  linkLifeMs?: number;
};

/** Returns which versions went where, and when. Throws a BrokenInvariant with the commands. */
export function playSequence(
  settings: readonly PlaceSettings[],
  codes: readonly number[],
  options: Options = {},
): Witness['writes'] {
  const model: Witness = createWitness(() => site);
  const site: PlayedSite = simulateSite(settings, model, options);
  const playing = steps(site, model, codes, options);
  // Nothing of a simulated site is asynchronous.
  for (let step = playing.next(false); !step.done; step = playing.next(step.value === true));
  return model.writes;
}

/** The same for a site that takes a while for each step, such as a workflow. */
export async function playOn(
  site: PlayedSite,
  model: Witness,
  codes: readonly number[],
  onPlayed: (played: Played) => void,
): Promise<void> {
  const playing = steps(site, model, codes, { onPlayed });
  for (let step = playing.next(false); !step.done; ) {
    try {
      const outcome = await step.value;
      step = playing.next(outcome);
    } catch (error) {
      step = playing.throw(error);
    }
  }
}

type Steps = Generator<Outcome, void, boolean>;

/** Each step has to end before the next one begins. */
function* steps(
  site: PlayedSite,
  model: Witness,
  codes: readonly number[],
  { skips, heals, onPlayed }: Options,
): Steps {
  const played: Played[] = [];
  try {
    for (const code of codes) {
      const command = readCommand(code, site.places);
      if (skips?.(command)) continue;
      played.push(command);
      command.didSomething = yield playCommand(command, site, model);
      if (command.didSomething) yield site.settle();
      onPlayed?.(command);
    }
    if (heals !== false) yield* healing(site, model);
  } catch (error) {
    if (error instanceof Error) error.message += `\n${describe(site, played)}`;
    throw error;
  }
}

function describe({ places }: PlayedSite, played: readonly Played[]): string {
  const commands = played
    .filter(({ didSomething }) => didSomething !== false)
    .map(({ name, place }) => `${name} (${place.name})`);
  const all = places.map(({ name, settings }) => `${name}: ${JSON.stringify(settings)}`);
  return `of ${all.join('; ')}\nafter ${commands.join(', ')}`;
}

/** Nothing more happens, then everything heals, then there is one more publish. */
function* healing(site: PlayedSite, model: Witness): Steps {
  if (!site.isRunning) return;
  yield site.pass(15 * MINUTE_MS);
  checkUnserved(site, model);
  yield* healWorld(site);
  // What was allowed while it was locked is under way before it is unlocked.
  yield site.settle();
  yield site.pause(false);
  yield site.settle();
  yield site.unlock();
  yield site.settle();
  // The longest back-off.
  yield site.pass(65 * MINUTE_MS);
  yield* mergeAll(site);
  checkUnserved(site, model);
  yield site.publish();
  yield site.settle();
  // One may be running; the publish waits for the next one.
  for (let exports = 0; exports < 2; exports++) {
    yield site.endExport('released');
    yield site.settle();
  }
  for (let waves = 0; waves < 2; waves++) {
    yield* approveAll(site);
    yield* mergeAll(site);
  }
  for (const place of site.places) {
    const { lastGood } = model.of(place);
    if (lastGood !== model.newest) {
      const { desired, state: shown } = site.status().deployments.find(({ name }) => name === place.name) ?? {};
      model.fail(
        `${place.name} serves ${lastGood?.version} in the end, not ${model.newest?.version} (${JSON.stringify(desired)} ${shown})`,
      );
    }
  }
}

function* healWorld(site: PlayedSite): Steps {
  site.isWorkerAway = false;
  site.service.refuses = false;
  site.service.gone.clear();
  for (const place of site.places) {
    place.breaks = false;
    place.answers = 'new';
    const isElsewhere = place.otherLists || !place.listed;
    place.otherLists = false;
    const isSwitched = place.pin !== null || place.isOff;
    place.pin = null;
    place.isOff = false;
    serve(place);
    if (isSwitched) yield site.switched(place);
    if (isElsewhere) yield site.setListed(place, true);
  }
}

function* approveAll(site: PlayedSite): Steps {
  // First an export that is held, then what deployments wait for.
  for (let rounds = 0; rounds < 2; rounds++) {
    yield site.decide('approve');
    yield site.settle();
  }
}

/** Time passes; people merge what is proposed. */
function* mergeAll(site: PlayedSite): Steps {
  for (let round = 0; round < 4; round++) {
    yield site.pass(2 * MINUTE_MS);
    for (const place of site.places) endPullRequest(place, 'merged');
  }
  yield site.pass(2 * MINUTE_MS);
}

/** Each accepted publish is served everywhere, or the state gives a reason that can be true. */
function checkUnserved(site: PlayedSite, model: Witness): void {
  const shown = site.status().oldestUnserved;
  const times = [model.unexportedMs(), ...site.places.filter(model.follows).map(model.unservedMs)].filter(
    (ms) => ms !== null,
  );
  const expectedMs = times.length === 0 ? null : Math.min(...times);
  const shownMs = shown && model.publishBefore(Date.parse(shown.at));
  if (shownMs !== expectedMs)
    model.fail(`the oldest unserved publish is of ${isoTime(expectedMs)}, and the state says ${shown?.at}`);
  if (shown !== null && !canBe(shown.reason, site, model))
    model.fail(`publishes are unserved, and the state says "${shown.reason}"`);
}

/** Whether that can be the reason, after ten quiet minutes. */
function canBe(reason: UnservedReason, site: PlayedSite, model: Witness): boolean {
  const { places, service, isWorkerAway } = site;
  const { exports, isPaused, fails } = site.hindrances();
  const any = (holds: (place: Place) => boolean): boolean => places.some((place) => place.listed && holds(place));
  switch (reason) {
    case 'debouncing':
    case 'exporting':
      return exports;
    case 'review':
      return model.isReviewing();
    case 'locked':
      return model.isLocked;
    case 'paused':
      return isPaused;
    case 'approval':
      return any(({ settings }) => settings.approve);
    case 'waiting':
      return any(({ settings }) => settings.wave > 1);
    case 'deploying':
      return any(({ settings, pullRequest }) => pullRequest !== null || (isWorkerAway && settings.kind === 'git'));
    case 'confirming':
      return isWorkerAway;
    case 'unknown':
      return isWorkerAway || any(({ answers }) => answers === 'error' || answers === 'nothing');
    case 'failed':
      return (
        isWorkerAway ||
        service.refuses ||
        fails ||
        any(
          (place) =>
            place.breaks ||
            place.file?.site === 'other' ||
            place.answers === 'old' ||
            model.of(place).verdict?.verdict === 'other' ||
            model.of(place).withheld !== null,
        )
      );
    case 'unconfigured':
      // An export begins with the settings, which only a worker has.
      return isWorkerAway;
  }
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
