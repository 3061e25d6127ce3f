import { Context } from '@temporalio/activity';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import type { Activities } from '../../../activities/create-activities.ts';
import type { WriteDeploymentInput } from '../../../activities/deployments/activities.ts';
import { GUARD_DEFAULTS } from '../../../contract/export-defaults.ts';
import { QUERIES, SIGNALS, UPDATES, WORKFLOW_IDS } from '../../../contract/names.ts';
import type { PublishedSignal } from '../../../contract/publish-event.ts';
import type { ActionOptions } from '../../../contract/site-action.ts';
import { type SiteState, siteState } from '../../../contract/site-state.ts';
import { TARGETS } from '../../../contract/target-kind.ts';
import type { HeldLink, Job } from '../../../workflows/export-site/state.ts';
import { exportSite } from '../../../workflows/export-site.ts';
import type { JointClock } from './joint-clock.ts';
import type { ExportEnd, PlayedSite } from './model-commands.ts';
import { createWitness, type Witness } from './model-witness.ts';
import { event } from './play-publishes.ts';
import {
  answerOf,
  LINK_LIFE_MS,
  newPlace,
  type Place,
  type PlaceSettings,
  SETTINGS,
  WRITE_MS,
  writeByOther,
  writeTo,
} from './simulated-place.ts';

/**
 * A site as a real workflow in a simulated world: its activities are stubs, which read the world and tell the witness what the
 * workflow does.
 */

export const STUBS = [
  'readSiteSettings',
  'readSwitches',
  'waitForPinChange',
  'createExportKey',
  'startExport',
  'pollExport',
  'cancelExport',
  'judgeExport',
  'createBundle',
  'findExport',
  'readExport',
  'writeDeployment',
  'checkProposal',
  'findOwner',
  'askDeployment',
] as const;
export type SiteStubs = Pick<Activities, (typeof STUBS)[number]>;

export type WorkflowSite = PlayedSite & {
  readonly model: Witness;
  readonly stubs: SiteStubs;
  /** Whether the server spoiled its history: the sequence says nothing then. */
  readonly isSpoiled: boolean;
  /** Ends the workflow if the server has spoiled its history. */
  checkHistory(): Promise<void>;
  /** Ends the workflow. */
  close(): Promise<void>;
};

type Options = {
  name: string;
  settings: readonly PlaceSettings[];
  client: Client;
  taskQueue: string;
  clock: JointClock;
};

/**
 * Polls come after this time, and so do retries while no worker is there. It is no multiple of the workflow's own times, so that
 * few activities are canceled when they are just due (joint-clock.ts).
 */
const POLL_MS = 290_700;
/** People merge every two minutes in the end. */
const PROPOSAL_POLL_MS = 97_300;
const WRITE_RETRY_MS = 2_000;
/** Of a running export. A command that ends it waits for the next poll. */
const LONGEST_POLL_MS = 120_000;
/** A command takes effect within this time. */
const EFFECT_MS = 1_500;
/** A query of a spoiled workflow has no answer. */
const QUERY_MS = 180_000;
/** More links within ten minutes are a loop: 3 deployments, a back-off from 5 s to 60 s, and what commands cause. */
const MAX_LINKS = 60;

/** A job of the service, and how it ended. */
type ServiceJob = Job & { end: ExportEnd | null; isKnown: boolean };
/** A question under way: how long it could be asked, and for how much of that the deployment named another version. */
type Question = { askedMs: number; otherMs: number; lastMs: number };

export function createWorkflowSite({ name, settings, client, taskQueue, clock }: Options): WorkflowSite {
  const places = settings.map((each, index) => ({ ...newPlace(`d${index}`, each), announcedAtMs: 0 }));
  const service = { refuses: false, gone: new Set<string>(), jobs: [] as Job[] };
  const jobs = new Map<string, ServiceJob>();
  const jobOfKey = new Map<string, string>();
  const links = new Map<string, HeldLink>();
  const proposals = new Map<string, string>();
  const questions = new Map<string, Question>();
  /** What galley.yaml lists; the site lists what it has read. */
  const configured = new Set(places);
  /** Counts how often the site began to list it: a write for an earlier record changes only the file. */
  const records = new Map<Place, number>();
  const underWay = new Map<Place, string>();
  const domain = `${name}.example.com`;
  const workflowId = WORKFLOW_IDS.exportSite(name);
  let handle: WorkflowHandle<typeof exportSite> = client.workflow.getHandle<typeof exportSite>(workflowId);
  let isRunning = false;
  let isSpoiled = false;
  let isWorkerAway = false;
  let isPaused = false;
  let published = 0;
  let nextEnd: ExportEnd | null = null;
  let nextPollMs = 0;
  let linkTimesMs: number[] = [];
  let shown: SiteState | null = null;
  let broken: unknown;

  // ---- the activities
  const info = () => Context.current().info;
  const nowMs = (): number => clock.workMs();

  /** What the witness rejects fails the sequence, not the activity. */
  function watch(tell: (model: Witness) => void): void {
    try {
      for (const place of places) model.timePassed(place, nowMs());
      tell(model);
    } catch (error) {
      broken ??= error;
    }
  }

  function placeOf(valuesFile: string): Place {
    const found = places.find((place) => place.name === valuesFile);
    if (found === undefined) throw new Error(`no place ${valuesFile}`);
    return found;
  }

  function jobOf(jobId: string): ServiceJob {
    const found = jobs.get(jobId);
    if (found === undefined) throw failure('JobGone', 404);
    return found;
  }

  function needsWorker(nextRetryDelay = POLL_MS): void {
    if (isWorkerAway) throw ApplicationFailure.create({ message: 'no worker', nextRetryDelay });
  }

  function needsService(): void {
    needsWorker();
    if (service.refuses) throw failure('Unavailable', 503);
  }

  /** The workflow repeats the call with its own back-off. */
  function failure(type: 'Unavailable' | 'JobGone', status: number): ApplicationFailure {
    const details = [{ status, retryAfterMs: null }];
    return ApplicationFailure.create({ type, message: type, nonRetryable: true, details });
  }

  function poll(message: string, nextRetryDelay = POLL_MS): ApplicationFailure {
    return ApplicationFailure.create({ type: 'StillRunning', message, nextRetryDelay, category: 'BENIGN' });
  }

  const stubs: SiteStubs = {
    async readSiteSettings() {
      needsWorker();
      for (const place of places) list(place, configured.has(place));
      const deployments = places
        .filter(({ listed }) => listed)
        .map((each) => ({ ...each.settings, place: each.name, name: each.name, host: null, url: null }));
      const nobody = { operators: [], notify: [], searchAttributes: false };
      return { ...SETTINGS, ...nobody, domain, deployments, guards: GUARD_DEFAULTS };
    },

    async readSwitches(names) {
      needsWorker();
      return announced(names);
    },

    async waitForPinChange(held) {
      needsWorker();
      const changed = held.filter(({ valuesFile, pin, off }) => {
        const place = placeOf(valuesFile);
        return place.pin !== pin || place.isOff !== off;
      });
      if (changed.length === 0) throw poll('unchanged');
      return announced(changed.map(({ valuesFile }) => valuesFile));
    },

    async createExportKey() {
      if (info().attempt === 1) watch(() => model.exportBegan());
      needsWorker();
      return `key-${info().activityId}-${nowMs()}`;
    },

    async startExport({ idempotencyKey }) {
      needsService();
      const number = jobs.size + 1;
      const jobId = jobOfKey.get(idempotencyKey) ?? `${name}-j${number}`;
      jobOfKey.set(idempotencyKey, jobId);
      const known = jobs.get(jobId);
      const createdAt = known?.createdAt ?? isoTime(nowMs());
      const version = known?.version ?? `v${number}`;
      const unknown = { exportedAt: null, upTo: 0, oldestPublishMs: null };
      jobs.set(jobId, known ?? { jobId, version, domain, createdAt, ...unknown, end: null, isKnown: false });
      return { jobId, version, createdAt, ageMs: 0 };
    },

    async pollExport({ jobId }) {
      needsService();
      const job = jobOf(jobId);
      job.end ??= nextEnd;
      if (job.end === null) {
        const delayMs = Math.min(2_130 * info().attempt, LONGEST_POLL_MS);
        nextPollMs = nowMs() + delayMs;
        throw poll(`${jobId} is running`, delayMs);
      }
      if (nextEnd === job.end) nextEnd = null;
      if (job.end === 'failed') {
        watch(() => model.exportFailed());
        return { status: 'failed', error: 'the site is down' };
      }
      if (!service.jobs.includes(job)) service.jobs.push(job);
      return { status: 'completed', version: null, pageCount: null, exportedAt: isoTime(nowMs()) };
    },

    async cancelExport() {
      needsService();
      return 'accepted';
    },

    async judgeExport({ jobId }) {
      needsService();
      const job = jobOf(jobId);
      if (job.end === 'held') ended(job, 'held');
      return { reasons: job.end === 'held' ? ['fewer pages'] : [] };
    },

    async createBundle({ jobId }) {
      if (info().attempt === 1) countLink();
      needsService();
      const job = jobOf(jobId);
      if (service.gone.has(jobId)) {
        // Its export fails, unless it has ended.
        if (!job.isKnown) watch(() => model.exportFailed());
        throw failure('JobGone', 410);
      }
      if (!job.isKnown) ended(job, 'released');
      const bundleUrl = `https://store.example.com/${jobId}/${links.size}`;
      const link = freshLink(nowMs());
      links.set(bundleUrl, link);
      return { ...link, expiresAt: link.expiresAt ?? '', bundleUrl, version: null };
    },

    async findExport({ version }) {
      needsService();
      const found = service.jobs.find((job) => job.version === version);
      if (found !== undefined) jobOf(found.jobId).isKnown = true;
      return { jobId: found?.jobId ?? null, versions: [] };
    },

    async readExport({ jobId }) {
      needsService();
      const { version, createdAt, exportedAt } = jobOf(jobId);
      return { status: 'completed', domain, version, createdAt, exportedAt };
    },

    async writeDeployment(input) {
      const place = placeOf(input.valuesFile);
      const { attempt, activityId } = info();
      if (attempt === 1) {
        await look();
        underWay.set(place, activityId);
        // What was decided before the pin was read is refused by the file.
        const isJudged = place.listed && info().scheduledTimestampMs > place.announcedAtMs;
        if (isJudged) watch(() => writing(place, input));
      }
      needsWorker(WRITE_RETRY_MS);
      if (TARGETS[place.settings.kind].longWrite !== null && attempt === 1)
        throw poll('writing', WRITE_MS[place.settings.kind]);
      if (place.breaks) throw ApplicationFailure.create({ message: 'a full disk', nextRetryDelay: WRITE_RETRY_MS });
      const link = links.get(input.bundleUrl);
      if (link === undefined) throw new Error('a link that was never obtained');
      const report = writeTo(place, { write: input, link });
      if (place.listed && underWay.get(place) === activityId) watch(() => wrote(place, input, report));
      underWay.delete(place);
      return report;
    },

    async checkProposal({ valuesFile, epoch, sequence }) {
      needsWorker();
      const place = placeOf(valuesFile);
      const end = place.proposalEnd;
      if (end === null) throw poll('the pull request is open', PROPOSAL_POLL_MS);
      place.proposalEnd = null;
      const jobId = proposals.get(`${valuesFile} ${epoch}.${sequence}`) ?? '';
      if (model.of(place).proposed?.jobId !== jobId) return end;
      watch(() => (end === 'merged' ? model.written(place, jobId) : model.closed(place, jobId)));
      return end;
    },

    async findOwner({ valuesFile }) {
      needsWorker();
      return { verdict: placeOf(valuesFile).otherLists ? 'listed' : 'released' };
    },

    async askDeployment({ valuesFile, jobId, until, withinMs }) {
      const place = placeOf(valuesFile);
      const { attempt, activityId, workflowExecution } = info();
      const key = `${workflowExecution?.runId} ${activityId}`;
      const now = nowMs();
      if (attempt === 1 && place.listed) {
        watch(() => {
          model.stepBegan(place, now, 'ask');
          model.asking(place, jobId);
        });
      }
      const { askedMs, otherMs, lastMs } = questions.get(key) ?? { askedMs: 0, otherMs: 0, lastMs: now };
      const answer = answerOf(place, jobId);
      const passedMs = isWorkerAway ? 0 : now - lastMs;
      const counted = {
        askedMs: askedMs + passedMs,
        otherMs: answer === 'other' ? otherMs + passedMs : otherMs,
        lastMs: now,
      };
      questions.set(key, counted);
      needsWorker();
      const result = verdictOf(answer, counted, until, withinMs);
      if (result === null) throw poll('not served', until === 'served' ? POLL_MS : withinMs + 1_700);
      if (place.listed)
        watch(() => {
          if (result === 'served') model.served(place, jobId);
          else model.seenOtherwise(place, jobId, result);
        });
      return { verdict: result, why: result, servesVersion: null, servesJobId: null };
    },
  };

  function list(place: Place, isListed: boolean): void {
    if (place.listed === isListed) return;
    place.listed = isListed;
    records.set(place, (records.get(place) ?? 0) + 1);
    underWay.delete(place);
    model.forgotten(place);
  }

  function announced(names: readonly string[]) {
    const atMs = nowMs();
    return names.map(placeOf).map((place) => {
      place.announcedAtMs = atMs;
      if (place.listed) watch(() => model.switched(place, 'announced'));
      return { valuesFile: place.name, pin: place.pin, off: place.isOff };
    });
  }

  function ended(job: ServiceJob, how: 'released' | 'held'): void {
    job.isKnown = true;
    watch(() => model.exported(job, how, nowMs()));
  }

  function countLink(): void {
    linkTimesMs = [...linkTimesMs.filter((ms) => ms > nowMs() - 600_000), nowMs()];
    if (linkTimesMs.length > MAX_LINKS) watch(() => model.fail(`${name} asks for links again and again`));
  }

  function freshLink(atMs: number): HeldLink {
    return { expiresAt: isoTime(atMs + LINK_LIFE_MS), obtainedAtMs: atMs, lifetimeMs: LINK_LIFE_MS };
  }

  function writing(place: Place, { jobId }: WriteDeploymentInput): void {
    const record = model.of(place);
    const { desired } = site.status().deployments.find((each) => each.name === place.name) ?? {};
    model.stepBegan(place, nowMs(), 'write');
    const { verdict, begun, lastGood } = record;
    // Only the state of the workflow changes: the write shows it.
    const goesBack = begun !== null && lastGood?.jobId === jobId && begun.jobId !== jobId;
    const isByGalley =
      desired?.reason === 'withheld' || desired?.reason.startsWith('waits') || desired?.reason === 'rejected';
    if (goesBack && isByGalley && verdict?.jobId === begun.jobId && record.withheld !== begun)
      model.withheld(place, begun.jobId);
    const isWaiting = desired?.reason.startsWith('waits') === true;
    const kept = record.withheld === begun ? lastGood : begun;
    const isDesired = desired?.jobId === jobId || (isWaiting && kept?.jobId === jobId);
    model.writing(place, jobId, isDesired, nowMs());
  }

  function wrote(place: Place, { jobId }: WriteDeploymentInput, report: ReturnType<typeof writeTo>): void {
    if (report.outcome === 'foreign') return;
    model.switched(place, 'reported');
    if (report.outcome === 'written') model.written(place, jobId);
    else if (report.outcome === 'proposed') {
      const { epoch, sequence } = report.owner ?? { epoch: 0, sequence: 0 };
      proposals.set(`${place.name} ${epoch}.${sequence}`, jobId);
      model.proposed(place, jobId);
    } else model.refused(place);
  }

  // ---- what operators do
  async function update(name: keyof typeof UPDATES, first?: string | ActionOptions, second?: ActionOptions) {
    try {
      const accepted = await handle.startUpdate<unknown, [unknown, unknown]>(UPDATES[name], {
        args: [first, second],
        waitForStage: 'ACCEPTED',
      });
      // Its end may need time to pass.
      accepted.result().catch(() => {});
      return true;
    } catch (error) {
      broken ??= error;
      return false;
    }
  }

  async function signalChange(): Promise<boolean> {
    if (isRunning) await handle.signal(SIGNALS.configChanged);
    return true;
  }

  async function look(): Promise<void> {
    if (!isRunning) return;
    const query = () => handle.query<unknown, [{ brief: boolean }]>(QUERIES.state, { brief: true });
    shown = siteState.parse(await client.withDeadline(Date.now() + QUERY_MS, query));
  }

  async function pass(ms: number): Promise<boolean> {
    await timePassed();
    await clock.sleep(ms);
    await timePassed();
    await look();
    if (broken !== undefined) throw broken;
    return true;
  }

  async function timePassed(): Promise<void> {
    const atMs = await clock.nowMs();
    for (const place of places) model.timePassed(place, atMs);
  }

  const site: WorkflowSite = {
    places,
    service,
    stubs,
    get model() {
      return model;
    },
    get isRunning() {
      return isRunning;
    },
    get isWorkerAway() {
      return isWorkerAway;
    },
    set isWorkerAway(away) {
      isWorkerAway = away;
    },
    knows: (jobId) => jobs.get(jobId)?.isKnown === true,
    status() {
      if (shown === null) throw new Error('the state was never read');
      return shown;
    },
    async publish() {
      const atMs = await clock.nowMs();
      if (!isRunning) {
        isRunning = true;
        isPaused = false;
        for (const job of jobs.values()) job.isKnown = false;
        for (const place of places) model.forgotten(place);
      }
      model.published(atMs);
      const id = `p${++published}`;
      const delivery = { id, source: 's', receivedAt: isoTime(atMs), dedupeMs: 60_000 };
      const signal: PublishedSignal = { deliveries: [delivery], newest: { ...event(id), at: isoTime(atMs) } };
      handle = await client.workflow.signalWithStart(exportSite, {
        workflowId,
        taskQueue,
        args: [{ site: name }],
        signal: SIGNALS.published,
        signalArgs: [signal],
      });
      handle = client.workflow.getHandle<typeof exportSite>(workflowId);
      return true;
    },
    async endExport(how) {
      if (!isRunning || !(model.isExporting() || model.unexportedMs() !== null)) return false;
      nextEnd = how;
      const dueMs = Math.max(nextPollMs, Date.parse(shown?.nextTryAt ?? '') || 0, 0) - (await clock.nowMs());
      await pass(Math.min(Math.max(dueMs, SETTINGS.quietPeriodMs), LONGEST_POLL_MS) + EFFECT_MS);
      nextEnd = null;
      return true;
    },
    async decide(how, place) {
      if (!isRunning) return false;
      await look();
      if (place === undefined && model.isReviewing()) {
        const { jobId } = site.status().review ?? { jobId: '' };
        if (how === 'approve' && (isWorkerAway || service.refuses || service.gone.has(jobId))) return false;
        model.reviewEnded(how);
        return await update(how);
      }
      const waiting = site
        .status()
        .deployments.filter(
          (each) => each.desired.reason === 'waits-for-approval' && (place === undefined || each.name === place.name),
        );
      if (waiting.length === 0) return false;
      for (const each of waiting) {
        const jobId = each.desired.jobId ?? '';
        if (how === 'approve') model.approved(placeOf(each.name), jobId);
        else model.rejected(placeOf(each.name), jobId);
      }
      return await update(how, place && { deployment: place.name });
    },
    async rollBack(version, locks) {
      const found = service.jobs.find((job) => job.version === version);
      // Otherwise nothing changes, or only later.
      if (found === undefined || isWorkerAway || service.refuses) return false;
      model.rolledBack(found.jobId, model.accepted, locks);
      return await update('rollback', version, { lock: locks });
    },
    async lock() {
      if (!isRunning) return false;
      model.locked();
      return await update('lock');
    },
    async unlock() {
      if (!isRunning || !model.isLocked) return false;
      model.unlocked();
      return await update('unlock');
    },
    async pause(paused) {
      if (!isRunning || isPaused === paused) return false;
      isPaused = paused;
      return await update(paused ? 'pause' : 'resume');
    },
    async remove() {
      if (!isRunning) return false;
      model.removed();
      const did = await update('remove');
      isRunning = false;
      return did;
    },
    async refresh() {
      if (!isRunning || model.newest === null) return false;
      return await update('refreshNow');
    },
    // Only a long history or a new build brings it about.
    continueAsNew: () => false,
    switched: signalChange,
    async setListed(place, isListed) {
      if (isListed) configured.add(place);
      else {
        configured.delete(place);
        await site.writeByOther(place);
      }
      return await signalChange();
    },
    async writeByOther(place) {
      writeByOther(place, freshLink(await clock.nowMs()));
      return true;
    },
    pass,
    async settle() {
      await pass(EFFECT_MS);
      if (!isRunning) return true;
      const { lock, review } = site.status();
      if ((lock !== null) !== model.isLocked) model.fail(`the state shows ${lock === null ? 'no' : 'a'} lock`);
      if ((review !== null) !== model.isReviewing())
        model.fail(`the state shows ${review === null ? 'no' : 'a'} review`);
      return true;
    },
    hindrances: () => ({
      exports: model.isExporting(),
      isPaused,
      fails: shown !== null && (shown.nextTryAt !== null || shown.lastError !== null),
    }),
    get isSpoiled() {
      return isSpoiled;
    },
    async checkHistory() {
      if (!isRunning || isSpoiled) return;
      isSpoiled = hasLostTask(await handle.fetchHistory());
      if (!isSpoiled) return;
      await handle.terminate('the server spoiled its history');
    },
    async close() {
      if (isSpoiled) return;
      isWorkerAway = false;
      service.refuses = false;
      // A workflow that is terminated during a call would keep the server from skipping time.
      for (;;) {
        await clock.sleep(EFFECT_MS);
        const { status } = await handle.describe().catch(() => ({ status: { name: 'NONE' } }));
        if (status.name !== 'RUNNING') return;
        await update('remove');
      }
    },
  };
  const model: Witness = createWitness(() => site);
  return site;
}

function verdictOf(
  answer: 'served' | 'other' | 'unknown',
  { askedMs, otherMs }: Question,
  until: 'verdict' | 'answer' | 'served',
  withinMs: number,
): 'served' | 'other' | 'unknown' | null {
  if (answer === 'served') return 'served';
  if (until === 'served') return null;
  if (until === 'answer') return otherMs >= withinMs ? 'other' : null;
  if (askedMs < withinMs) return null;
  return otherMs >= withinMs / 2 ? 'other' : 'unknown';
}

/**
 * Whether a workflow task began while another one had not ended. The server sometimes rejects the end of a task that cancels an
 * activity (`ACTIVITY_UNKNOWN`) and forgets the task. The SDK can't go on with such a history.
 */
function hasLostTask({ events }: History): boolean {
  let isStarted = false;
  for (const each of events ?? []) {
    if (each.workflowTaskScheduledEventAttributes && isStarted) return true;
    if (each.workflowTaskStartedEventAttributes) isStarted = true;
    else if (
      each.workflowTaskCompletedEventAttributes ||
      each.workflowTaskFailedEventAttributes ||
      each.workflowTaskTimedOutEventAttributes
    )
      isStarted = false;
  }
  return false;
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
