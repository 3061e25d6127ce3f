import type { Arbitrary } from 'fast-check';
import type { UnservedReason } from '../../../contract/site-state.ts';
import { desiredVersion } from '../../../workflows/export-site/desired-version.ts';
import { unlockSite } from '../../../workflows/export-site/jobs.ts';
import { releaseReview, setPaused } from '../../../workflows/export-site/transitions.ts';
import fc from '../../helpers/fast-check.ts';
import { type Played, playCommand, readCommand } from './model-commands.ts';
import { createWitness, type Witness } from './model-witness.ts';
import { endPullRequest, type Place, type PlaceSettings, serve } from './simulated-place.ts';
import { CONFIRM_WITHIN_MS, type SimulatedSite, simulateSite } from './simulated-site.ts';

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
  const played: Played[] = [];
  const model: Witness = createWitness(() => site);
  const site: SimulatedSite = simulateSite(settings, model, options);
  try {
    for (const code of codes) {
      const command = readCommand(code, site);
      if (options.skips?.(command)) continue;
      played.push(command);
      playCommand(command, site, model);
      options.onPlayed?.(command);
    }
    if (options.heals !== false) heal(site, model);
  } catch (error) {
    if (error instanceof Error) error.message += `\n${describe(settings, played)}`;
    throw error;
  }
  return model.writes;
}

function describe(settings: readonly PlaceSettings[], played: readonly Played[]): string {
  const places = settings.map((each, index) => `d${index}: ${JSON.stringify(each)}`);
  const commands = played
    .filter(({ didSomething }) => didSomething !== false)
    .map(({ name, place }) => `${name} (${place.name})`);
  return `of ${places.join('; ')}\nafter ${commands.join(', ')}`;
}

/** Nothing more happens, then everything heals, then there is one more publish. */
function heal(site: SimulatedSite, model: Witness): void {
  if (!site.isRunning) return;
  site.advance(site.nowMs + 15 * MINUTE_MS);
  checkUnserved(site, model);
  healWorld(site);
  const { state } = site;
  setPaused(state, false);
  if (state.lock !== null) {
    unlockSite(state);
    model.unlocked();
  }
  site.changed();
  // The longest back-off.
  site.advance(site.nowMs + 65 * MINUTE_MS);
  mergeAll(site);
  checkUnserved(site, model);
  site.publish();
  site.changed();
  if (state.exporting !== null) site.endExport('released');
  site.advance(site.exportDueAt() === Number.POSITIVE_INFINITY ? site.nowMs : site.exportDueAt());
  site.endExport('released');
  site.changed();
  for (let waves = 0; waves < 2; waves++) {
    approveAll(site, model);
    mergeAll(site);
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

function healWorld(site: SimulatedSite): void {
  site.isWorkerAway = false;
  site.service.refuses = false;
  site.service.gone.clear();
  for (const place of site.places) {
    place.breaks = false;
    place.answers = 'new';
    place.otherLists = false;
    place.listed = true;
    if (place.pin !== null || place.isOff) place.announcedAtMs = site.nowMs;
    place.pin = null;
    place.isOff = false;
    serve(place);
  }
  site.configure();
}

function approveAll(site: SimulatedSite, model: Witness): void {
  const { state } = site;
  if (state.review !== null) {
    releaseReview(state);
    model.reviewEnded('approved');
  }
  for (const deployment of state.deployments) {
    const { reason, waitsFor } = desiredVersion(state, deployment);
    const place = site.places.find(({ name }) => name === deployment.place);
    if (place === undefined || reason !== 'waits-for-approval' || waitsFor === null) continue;
    deployment.approved = waitsFor.jobId;
    model.approved(place, waitsFor.jobId);
  }
  site.changed();
}

/** Time passes; people merge what is proposed. */
function mergeAll(site: SimulatedSite): void {
  for (let round = 0; round < 4; round++) {
    site.advance(site.nowMs + 2 * MINUTE_MS);
    for (const place of site.places) endPullRequest(place, 'merged');
  }
  site.advance(site.nowMs + 2 * MINUTE_MS);
}

/** Each accepted publish is served everywhere, or the state gives a reason that can be true. */
function checkUnserved(site: SimulatedSite, model: Witness): void {
  const shown = site.status().oldestUnserved;
  const times = [model.unexportedMs(), ...site.places.filter(model.follows).map(model.unservedMs)].filter(
    (ms) => ms !== null,
  );
  const expected = times.length === 0 ? null : new Date(Math.min(...times)).toISOString();
  if ((shown?.at ?? null) !== expected)
    model.fail(`the oldest unserved publish is of ${expected}, and the state says ${shown?.at}`);
  if (shown !== null && !canBe(shown.reason, site, model))
    model.fail(`publishes are unserved, and the state says "${shown.reason}"`);
}

/** Whether that can be the reason, after ten quiet minutes. */
function canBe(reason: UnservedReason, site: SimulatedSite, model: Witness): boolean {
  const { places, state, service, isWorkerAway } = site;
  const any = (holds: (place: Place) => boolean): boolean => places.some((place) => place.listed && holds(place));
  switch (reason) {
    case 'debouncing':
    case 'exporting':
      return state.exporting !== null;
    case 'review':
      return model.isReviewing();
    case 'locked':
      return model.isLocked;
    case 'paused':
      return state.paused;
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
        Object.keys(state.linkTrouble).length > 0 ||
        state.backOff !== null ||
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
      return false;
  }
}
