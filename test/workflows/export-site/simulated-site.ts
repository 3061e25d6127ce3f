import type { DeploymentWrite } from '../../../activities/deployments/deployment-target.ts';
import type { SiteState } from '../../../contract/site-state.ts';
import { TARGETS } from '../../../contract/target-kind.ts';
import { createSeenDeliveries } from '../../../workflows/deliveries/seen-deliveries.ts';
import {
  adoptSwitches,
  applyReport,
  beginWrite,
  configureDeployments,
  nextFence,
  pinSearched,
  proposalClosed,
  proposalMerged,
  seenOtherwise,
  seenServed,
  takeOver,
  withhold,
  writeFailed,
  writeInterrupted,
} from '../../../workflows/export-site/deployments.ts';
import { desiredVersion } from '../../../workflows/export-site/desired-version.ts';
import {
  isLost,
  linkFailed,
  linkObtained,
  lockSite,
  rememberJob,
  replaceJob,
  rollBackTo,
  unlockSite,
} from '../../../workflows/export-site/jobs.ts';
import { goneDelayMs, refreshRetryMs } from '../../../workflows/export-site/links.ts';
import { type AskStep, nextSteps, type WriteStep } from '../../../workflows/export-site/next-steps.ts';
import { exportDueAtMs } from '../../../workflows/export-site/schedule.ts';
import {
  type HeldLink,
  type Job,
  type MutableDeployment,
  type MutableState,
  newState,
  restoreState,
  serializeState,
} from '../../../workflows/export-site/state.ts';
import { siteStateOf } from '../../../workflows/export-site/status.ts';
import {
  applyDeliveries,
  bundleCreated,
  dropExports,
  endReview,
  exportedJob,
  holdForReview,
  jobFinished,
  jobStarted,
  recordExportFailure,
  releaseExport,
  releaseReview,
  requestExport,
  setPaused,
  takePending,
} from '../../../workflows/export-site/transitions.ts';
import type { ExportEnd, PlayedSite } from './model-commands.ts';
import type { Witness } from './model-witness.ts';
import { event } from './play-publishes.ts';
import {
  type AskLane,
  answerOf,
  CONFIRM_WITHIN_MS,
  LINK_LIFE_MS,
  newPlace,
  type Place,
  type PlaceSettings,
  SETTINGS,
  START_MS,
  WRITE_MS,
  type WriteInput,
  type WriteLane,
  writeByOther,
  writeTo,
} from './simulated-place.ts';

/**
 * A site on a simulated clock: the loop of follow.ts and the glue of write.ts, ask.ts, links.ts and export.ts as plain
 * functions, with a simulated service. Whatever happens outside is told to the witness, which knows what may happen.
 */

const SITE = 'docs';
const BUNDLE_URL = 'https://store.example.com/bundle.tar.gz';

const CALL_MS = 1_000;
/** Then a write that no worker takes has failed. */
const LOST_WRITE_MS = { valuesFile: 8_000, directory: 50_000, git: 50_000 };

const by = { by: 'an operator', at: '2026-11-21T12:00:00.000Z', reason: null };

/** More rounds at one moment are a hot loop. */
const MAX_ROUNDS = 25;

export function simulateSite(
  settings: readonly PlaceSettings[],
  watch: Witness,
  { callMs = CALL_MS, linkLifeMs = LINK_LIFE_MS } = {},
): PlayedSite {
  const places = settings.map((each, index) => newPlace(`d${index}`, each));
  const service = { refuses: false, gone: new Set<string>(), jobs: [] as Job[] };
  const links = new Map<string, HeldLink>();
  const calls = new Map<string, number>();
  let nowMs = START_MS;
  let isWorkerAway = false;
  let running = false;
  let state: MutableState = newState(nowMs);
  let seen = createSeenDeliveries();
  let deliveries = 0;
  let changes = 0;
  let timerAtMs = Number.POSITIVE_INFINITY;
  let timerFired = false;

  // ---- the loop of follow.ts
  function settle(): void {
    for (let rounds = 0; running; rounds++) {
      if (rounds > MAX_ROUNDS) watch.fail('the loop finds no rest');
      const before = changes;
      takeSteps();
      if (changes === before) return;
    }
  }

  function takeSteps(): void {
    let wakeMs = Number.POSITIVE_INFINITY;
    for (const deployment of state.deployments) {
      const place = placeOf(deployment);
      const desired = desiredVersion(state, deployment);
      const facts = { site: SITE, nowMs, timerFired, write: place.write, ask: place.ask, settings: SETTINGS };
      const { write, ask } = nextSteps(state, deployment, desired, facts);
      takeWriteStep(place, deployment, write);
      takeAskStep(place, deployment, ask);
      if (write.do === 'wait') wakeMs = Math.min(wakeMs, write.untilMs);
    }
    timerFired = false;
    timerAtMs = Math.min(timerAtMs, wakeMs);
  }

  function placeOf({ place }: Pick<MutableDeployment, 'place'>): Place {
    const found = places.find(({ name }) => name === place);
    if (found === undefined) throw new Error(`no place ${place}`);
    return found;
  }

  /** Steps that began before the site stopped listing the deployment still end. */
  function isCurrent(deployment: MutableDeployment): boolean {
    return state.deployments.includes(deployment);
  }

  // ---- the write lane
  function takeWriteStep(place: Place, deployment: MutableDeployment, step: WriteStep): void {
    if (step.do === 'rest' || step.do === 'wait') return;
    watch.stepBegan(place, nowMs, step.do);
    if (place.write !== null) {
      if (place.write.does === 'write' && step.do !== 'find-pin') watch.replaced(place, step.job.jobId, nowMs);
      cancelWrite(place, place.write);
      return;
    }
    if (step.do === 'deploy') watch.deploying(place, step.job.jobId, nowMs);
    if (step.do === 'find-pin') {
      const { version } = step;
      place.write = {
        deployment,
        jobId: version,
        does: 'search',
        stage: 'preparing',
        version,
        endsAtMs: nowMs + CALL_MS,
      };
      return;
    }
    const { jobId } = step.job;
    const lane: WriteLane = {
      deployment,
      jobId,
      does: 'link',
      stage: 'preparing',
      step,
      endsAtMs: Number.POSITIVE_INFINITY,
    };
    place.write = lane;
    const known = links.get(jobId);
    const isFresh = known !== undefined && known.obtainedAtMs > step.linkNewerThanMs;
    if (isFresh && nowMs < known.obtainedAtMs + known.lifetimeMs / 2) {
      linkArrived(place, lane, step, known);
      return;
    }
    if (!calls.has(jobId)) calls.set(jobId, nowMs + callMs);
    if (callMs === 0) callEnded(jobId);
  }

  function cancelWrite(place: Place, lane: WriteLane): void {
    if (lane.does === 'write') writeInterrupted(lane.deployment, lane.input.job);
    endWrite(place);
  }

  function endWrite(place: Place): void {
    place.write = null;
    changes++;
  }

  function callEnded(jobId: string): void {
    calls.delete(jobId);
    const link = service.refuses || service.gone.has(jobId) ? null : freshLink();
    if (link === null) linkRefused(jobId);
    else {
      links.set(jobId, link);
      linkObtained(state, jobId, { version: null });
    }
    for (const place of places) {
      const lane = place.write;
      if (lane?.does === 'link' && lane.jobId === jobId) linkArrived(place, lane, lane.step, link);
    }
    changes++;
  }

  function freshLink(): HeldLink {
    return { expiresAt: isoTime(nowMs + linkLifeMs), obtainedAtMs: nowMs, lifetimeMs: linkLifeMs };
  }

  function linkRefused(jobId: string): void {
    const gone = !service.refuses;
    const failures = (state.linkTrouble[jobId]?.failures ?? 0) + 1;
    const notBeforeMs = nowMs + (gone ? goneDelayMs(failures) : refreshRetryMs(failures));
    const error = { message: 'no link', status: gone ? 410 : 503, at: isoTime(nowMs) };
    linkFailed(state, jobId, { failures, notBeforeMs, gone, error });
  }

  function linkArrived(
    place: Place,
    lane: WriteLane,
    step: Extract<WriteStep, { job: Job }>,
    link: HeldLink | null,
  ): void {
    const { deployment } = lane;
    const { job } = step;
    const desired = desiredVersion(state, deployment);
    if (link === null && isLost(state, deployment, job.jobId)) requestExportInsteadOf(job.jobId, true);
    const isDesired = desired.job?.jobId === job.jobId;
    const keepsLink = step.do === 'refresh' && deployment.written?.jobId === job.jobId;
    if (link === null || !(isDesired || keepsLink)) {
      endWrite(place);
      return;
    }
    if (isDesired) beginWrite(deployment, job);
    const { kind } = place.settings;
    const { reason } = desired;
    const isThere = deployment.written?.jobId === job.jobId || deployment.proposed?.jobId === job.jobId;
    const { jobId, version, createdAt } = job;
    const write: DeploymentWrite = {
      site: SITE,
      ...nextFence(deployment),
      kind: isThere ? 'refresh' : 'deploy',
      jobId,
      version,
      newest: reason !== 'pinned',
      bundleUrl: BUNDLE_URL,
      expiresAt: link.expiresAt ?? '',
      lifetimeMs: link.lifetimeMs,
      createdAt,
      rolledBack: reason !== 'newest' && reason !== 'pinned',
    };
    const input: WriteInput = { write, job, link };
    const fails = isWorkerAway ? 'no worker' : place.breaks ? 'a full disk' : null;
    const takesMs = isWorkerAway ? LOST_WRITE_MS[kind] : WRITE_MS[kind];
    place.write = {
      deployment,
      jobId: job.jobId,
      does: 'write',
      stage: 'writing',
      input,
      fails,
      endsAtMs: nowMs + takesMs,
    };
    if (isCurrent(deployment)) watch.writing(place, job.jobId, isDesired, nowMs);
  }

  function requestExportInsteadOf(jobId: string, lostBundle: boolean): void {
    if (state.newest !== jobId || !replaceJob(state, jobId)) return;
    requestExport(state, nowMs, { by: null, lostBundle });
    watch.requested();
  }

  function writeEnded(place: Place, lane: WriteLane): void {
    if (lane.does === 'link') return;
    const { deployment } = lane;
    if (lane.does === 'search') searchEnded(deployment, lane.version);
    else if (lane.fails !== null) writeFailed(deployment, lane.input.job, lane.fails, nowMs);
    else report(place, deployment, lane.input);
    endWrite(place);
  }

  function searchEnded(deployment: MutableDeployment, version: string): void {
    if (service.refuses) {
      pinSearched(deployment, version, { againAtMs: nowMs + 60_000, versions: [] });
      return;
    }
    const found = service.jobs.find((job) => job.version === version);
    if (found !== undefined) {
      const { jobId } = found;
      rememberJob(state, {
        jobId,
        version,
        domain: null,
        createdAt: null,
        exportedAt: null,
        upTo: 0,
        oldestPublishMs: null,
      });
    }
    pinSearched(deployment, version, { againAtMs: null, versions: [] });
  }

  function report(place: Place, deployment: MutableDeployment, input: WriteInput): void {
    const { job, link } = input;
    const { version } = job;
    const reported = writeTo(place, input);
    if (reported.outcome === 'foreign') {
      if (reported.owner === null) return;
      if (place.otherLists) writeFailed(deployment, job, 'another site writes it too', nowMs);
      else takeOver(deployment, reported.owner);
      return;
    }
    if (isCurrent(deployment)) watch.switched(place, 'reported');
    const tookMs = WRITE_MS[place.settings.kind];
    const isThere = applyReport(deployment, reported, { job, version, link, tookMs, nowMs });
    if (isThere && isCurrent(deployment)) watch.written(place, job.jobId);
    else if (reported.outcome !== 'proposed' && isCurrent(deployment)) watch.refused(place);
    if (reported.outcome === 'proposed' && isCurrent(deployment)) watch.proposed(place, job.jobId);
    if (reported.outcome !== 'older') return;
    state.olderJobId = job.jobId;
    requestExportInsteadOf(job.jobId, false);
  }

  // ---- the ask lane
  function takeAskStep(place: Place, deployment: MutableDeployment, step: AskStep): void {
    if (step.do === 'rest') return;
    watch.stepBegan(place, nowMs, step.do);
    if (step.do === 'stop') {
      place.ask = null;
      changes++;
    } else if (step.do === 'withhold') {
      withhold(deployment, step.job.jobId, step.why, isoTime(nowMs));
      watch.withheld(place, step.job.jobId);
      changes++;
    } else {
      const jobId = step.do === 'ask' ? step.job.jobId : step.jobId;
      const until = step.do === 'ask' ? step.until : 'proposal';
      if (step.do === 'ask') watch.asking(place, jobId);
      place.ask = { deployment, jobId, does: step.do, until, earliestMs: nowMs + CALL_MS, askedMs: 0, otherMs: 0 };
    }
  }

  /** When the question ends if nothing changes. */
  function askEndsAtMs(place: Place, { jobId, until, earliestMs, askedMs, otherMs }: AskLane): number {
    if (isWorkerAway) return Number.POSITIVE_INFINITY;
    if (until === 'proposal') return place.proposalEnd === null ? Number.POSITIVE_INFINITY : earliestMs;
    const answer = answerOf(place, jobId);
    if (answer === 'served') return earliestMs;
    if (until === 'verdict') return Math.max(nowMs + CONFIRM_WITHIN_MS - askedMs, earliestMs);
    if (until === 'served' || answer === 'unknown') return Number.POSITIVE_INFINITY;
    return Math.max(nowMs + CONFIRM_WITHIN_MS - otherMs, earliestMs);
  }

  function askEnded(place: Place, { deployment, jobId, until, otherMs }: AskLane): void {
    place.ask = null;
    changes++;
    if (until === 'proposal') {
      const isProposed = deployment.proposed?.jobId === jobId;
      if (place.proposalEnd === 'merged' && isProposed) {
        proposalMerged(deployment, nowMs);
        if (isCurrent(deployment)) watch.written(place, jobId);
      } else if (isProposed) {
        proposalClosed(deployment, { jobId }, nowMs);
        if (isCurrent(deployment)) watch.closed(place, jobId);
      }
      place.proposalEnd = null;
      return;
    }
    const at = isoTime(nowMs);
    if (answerOf(place, jobId) === 'served') {
      seenServed(deployment, jobId, at);
      if (isCurrent(deployment)) watch.served(place, jobId);
      return;
    }
    const verdict = otherMs >= CONFIRM_WITHIN_MS / 2 ? 'other' : 'unknown';
    seenOtherwise(deployment, { jobId, verdict, why: verdict, at });
    if (isCurrent(deployment)) watch.seenOtherwise(place, jobId, verdict);
  }

  // ---- exports
  function exportDueAt(): number {
    const { pending, exporting, paused, backOff } = state;
    if (!running || paused || exporting !== null || pending === null) return Number.POSITIVE_INFINITY;
    return Math.max(exportDueAtMs(pending, SETTINGS), backOff?.untilMs ?? 0, nowMs);
  }

  function exportBegins(): void {
    const number = service.jobs.length + 1;
    takePending(state, 'docs.example.com', nowMs);
    const { exporting } = state;
    if (exporting === null) return;
    jobStarted(state, exporting, { jobId: `j${number}`, version: `v${number}`, createdAt: isoTime(nowMs), ageMs: 0 });
    watch.exportBegan();
  }

  /** The running export ends, or the one that waits as soon as it is due. */
  function endExport(how: ExportEnd): void {
    const dueAtMs = exportDueAt();
    if (dueAtMs <= nowMs + SETTINGS.maxWaitMs) advance(dueAtMs);
    const { exporting } = state;
    if (!running || exporting === null) return;
    const { jobId } = exporting;
    if (how === 'failed' || service.refuses || jobId === null) {
      const type = how === 'failed' ? 'JobFailed' : 'Unavailable';
      recordExportFailure(state, exporting, { type, message: type, status: null, retryAfterMs: null }, nowMs, 0);
      if (how === 'failed') watch.exportFailed();
      return;
    }
    if (exporting.stage === 'polling') {
      jobFinished(state, exporting, {
        status: 'completed',
        version: null,
        exportedAt: isoTime(nowMs),
        pageCount: null,
      });
      service.jobs.push({ ...exportedJob(exporting) });
    }
    const job = exportedJob(exporting);
    if (how === 'held') holdForReview(state, job, ['fewer pages']);
    else {
      const link = freshLink();
      links.set(jobId, link);
      linkObtained(state, jobId, { version: null });
      bundleCreated(state, exporting, { ...link, expiresAt: link.expiresAt ?? '', bundleUrl: '', version: null });
      releaseExport(state, job);
    }
    watch.exported(job, how, nowMs);
    changes++;
  }

  // ---- what operators do
  function decide(how: 'approve' | 'reject', only?: Place): boolean {
    if (!running) return false;
    if (only === undefined && state.review !== null) return endHeld(how);
    let acted = false;
    for (const deployment of state.deployments) {
      const place = placeOf(deployment);
      const { reason, waitsFor } = desiredVersion(state, deployment);
      if ((only !== undefined && only !== place) || reason !== 'waits-for-approval' || waitsFor === null) continue;
      const { jobId } = waitsFor;
      if (how === 'approve') {
        deployment.approved = jobId;
        watch.approved(place, jobId);
      } else {
        deployment.rejected = jobId;
        watch.rejected(place, jobId);
      }
      acted = true;
    }
    return acted;
  }

  function endHeld(how: 'approve' | 'reject'): boolean {
    if (how === 'reject') endReview(state, 'rejected');
    else if (service.refuses || service.gone.has(state.review?.jobId ?? '')) return false;
    else releaseReview(state);
    watch.reviewEnded(how);
    return true;
  }

  // ---- time
  function nextEventMs(): number {
    let nextMs = Math.min(timerAtMs, exportDueAt());
    for (const endsAtMs of calls.values()) nextMs = Math.min(nextMs, endsAtMs);
    for (const place of places) {
      if (place.write !== null) nextMs = Math.min(nextMs, place.write.endsAtMs);
      if (place.ask !== null) nextMs = Math.min(nextMs, askEndsAtMs(place, place.ask));
      if (!isWorkerAway) nextMs = Math.min(nextMs, place.announcedAtMs);
    }
    return Math.max(nextMs, nowMs);
  }

  function advance(toMs: number): void {
    for (let atMs = nextEventMs(); running && atMs <= toMs; atMs = nextEventMs()) {
      passUntil(atMs);
      happen();
      settle();
    }
    passUntil(Math.max(toMs, nowMs));
  }

  function passUntil(atMs: number): void {
    const passedMs = atMs - nowMs;
    nowMs = atMs;
    if (passedMs === 0) return;
    for (const place of places) {
      if (place.ask !== null && !isWorkerAway) {
        place.ask.askedMs += passedMs;
        if (place.ask.until !== 'proposal' && answerOf(place, place.ask.jobId) === 'other')
          place.ask.otherMs += passedMs;
      }
      watch.timePassed(place, nowMs);
    }
  }

  /** Whatever is due now. */
  function happen(): void {
    if (timerAtMs <= nowMs) {
      timerFired = true;
      timerAtMs = Number.POSITIVE_INFINITY;
    }
    if (exportDueAt() <= nowMs) exportBegins();
    for (const [jobId, endsAtMs] of calls) if (endsAtMs <= nowMs) callEnded(jobId);
    for (const place of places) {
      if (place.write !== null && place.write.endsAtMs <= nowMs) writeEnded(place, place.write);
      if (place.ask !== null && askEndsAtMs(place, place.ask) <= nowMs) askEnded(place, place.ask);
      if (place.announcedAtMs <= nowMs && !isWorkerAway) announce(place);
    }
  }

  /** A worker noticed what an operator set in the file. */
  function announce(place: Place): void {
    place.announcedAtMs = Number.POSITIVE_INFINITY;
    const { name, pin, isOff: off } = place;
    if (!place.listed) return;
    adoptSwitches(state, { valuesFile: name, pin, off });
    watch.switched(place, 'announced');
    changes++;
  }

  // ---- runs
  function configure(): void {
    const listed = places.filter((place) => place.listed);
    configureDeployments(
      state,
      listed.map(({ name, settings: each }) => ({ ...each, place: name, name, host: null, url: null })),
    );
    changes++;
  }

  function start(): void {
    running = true;
    state = newState(nowMs);
    seen = createSeenDeliveries();
    configure();
    for (const place of places) {
      watch.forgotten(place);
      if (place.file !== null) place.announcedAtMs = nowMs + CALL_MS;
    }
  }

  /** Quick writes are awaited; long ones, and what only waits for a link, are canceled. */
  function drain(): void {
    calls.clear();
    for (const place of places) {
      place.ask = null;
      const lane = place.write;
      if (lane === null) continue;
      if (lane.stage === 'writing' && TARGETS[place.settings.kind].longWrite === null) writeEnded(place, lane);
      else cancelWrite(place, lane);
    }
    timerAtMs = Number.POSITIVE_INFINITY;
    links.clear();
  }

  return {
    places,
    service,
    get isRunning() {
      return running;
    },
    get isWorkerAway() {
      return isWorkerAway;
    },
    set isWorkerAway(away: boolean) {
      isWorkerAway = away;
    },
    knows: (jobId: string) => state.jobs.some((job) => job.jobId === jobId),
    publish(): boolean {
      if (!running) start();
      const id = `p${++deliveries}`;
      const delivery = { id, source: 's', receivedAt: isoTime(nowMs), dedupeMs: 60_000 };
      applyDeliveries(state, seen, { deliveries: [delivery], newest: event(id) }, nowMs);
      watch.published(nowMs);
      return true;
    },
    endExport(how: ExportEnd): boolean {
      if (!running || (state.exporting === null && state.pending === null)) return false;
      endExport(how);
      return true;
    },
    decide,
    /** As `rollBack` of commands.ts. */
    rollBack(version: string, locks: boolean): boolean {
      const found = service.jobs.find((job) => job.version === version);
      if (found === undefined) return false;
      const after = state.accepted;
      const job = state.jobs.find((each) => each.version === version) ?? { ...found, upTo: 0, oldestPublishMs: null };
      rememberJob(state, job);
      if (locks) lockSite(state, by);
      rollBackTo(state, { ...by, jobId: job.jobId, after });
      dropExports(state, after);
      watch.rolledBack(job.jobId, watch.accepted, locks);
      return true;
    },
    lock(): boolean {
      if (!running) return false;
      lockSite(state, by);
      watch.locked();
      return true;
    },
    unlock(): boolean {
      if (!running || state.lock === null) return false;
      unlockSite(state);
      watch.unlocked();
      return true;
    },
    pause(paused: boolean): boolean {
      if (!running || state.paused === paused) return false;
      setPaused(state, paused);
      return true;
    },
    remove(): boolean {
      if (!running) return false;
      drain();
      running = false;
      state = newState(nowMs);
      watch.removed();
      return true;
    },
    refresh(): boolean {
      if (!running || state.newest === null) return false;
      state.refreshAskedMs = nowMs;
      for (const trouble of Object.values(state.linkTrouble)) trouble.notBeforeMs = 0;
      for (const each of state.deployments) if (each.trouble !== null) each.trouble.notBeforeMs = 0;
      return true;
    },
    continueAsNew(): boolean {
      if (!running) return false;
      drain();
      const carried: unknown = JSON.parse(JSON.stringify(serializeState(state, seen)));
      ({ state, seen } = restoreState(carried));
      configure();
      return true;
    },
    switched(place: Place): boolean {
      place.announcedAtMs = nowMs + CALL_MS;
      return true;
    },
    setListed(place: Place, isListed: boolean): boolean {
      place.listed = isListed;
      if (!isListed) {
        watch.forgotten(place);
        writeByOther(place, freshLink());
      }
      if (running) configure();
      return true;
    },
    writeByOther(place: Place): boolean {
      writeByOther(place, freshLink());
      return true;
    },
    pass(ms: number): boolean {
      advance(nowMs + ms);
      return true;
    },
    /** Decides anew, after a change of the state or of the world. */
    settle(): boolean {
      changes++;
      if (running) settle();
      return running;
    },
    hindrances: () => ({
      exports: state.exporting !== null,
      isPaused: state.paused,
      fails: Object.keys(state.linkTrouble).length > 0 || state.backOff !== null,
    }),
    status(): SiteState {
      const isWriting = (name: string): boolean =>
        places.some((each) => each.name === name && each.write?.stage === 'writing');
      return siteStateOf({ site: SITE, state, settings: SETTINGS, isWriting });
    },
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
