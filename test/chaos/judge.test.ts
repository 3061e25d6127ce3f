import { idleSiteState, type SiteState } from '../../contract/site-state.ts';
import type { Command, History, PlaceSetup, Publish, View } from './history.ts';
import { judge, type ViolationKind } from './judge.ts';

const DEPLOYMENT: PlaceSetup = { name: 'deployment-docs', site: 'docs', kind: 'valuesFile', awaits: null, wave: 1 };
const FOLDER: PlaceSetup = { name: 'folder-docs', site: 'docs', kind: 'directory', awaits: 'approve', wave: 1 };
const SECOND: PlaceSetup = { ...FOLDER, awaits: null, wave: 2 };

const at = (edition: number): string => `job-${edition}`;

function view(edition: number, fromMs: number, changes: Partial<View> = {}): View {
  const pages = ['/', '/about'].map((path) => ({ path, site: 'docs', edition, isWhole: true }));
  const { name: place } = DEPLOYMENT;
  return {
    place,
    ...{ fromMs, untilMs: fromMs + 10, seenMs: fromMs + 5, lastFromMs: fromMs + 5 },
    status: 200,
    jobId: at(edition),
    version: `v${edition}`,
    pages,
    ...changes,
  };
}

function publish(edition: number, sentMs: number): Publish {
  return { site: 'docs', edition, sentMs, acceptedMs: sentMs + 5, deliveryId: `d${edition}`, sends: 1 };
}

function command(action: Command['action'], sentMs: number, changes: Partial<Command> = {}): Command {
  return { site: 'docs', action, place: null, edition: null, sentMs, answeredMs: sentMs + 5, status: 200, ...changes };
}

function record(edition: number, changes: Partial<SiteState['exports'][number]> = {}): SiteState['exports'][number] {
  const moment = '2026-11-21T08:00:00.000Z';
  return {
    ...{
      number: edition,
      jobId: at(edition),
      version: `v${edition}`,
      trigger: 'publish',
      publishCount: 1,
      title: null,
    },
    ...{
      author: null,
      requestedAt: moment,
      startedAt: moment,
      exportedAt: moment,
      writtenAt: moment,
      servedAt: moment,
    },
    ...{ endedAt: moment, rolledBackAt: null, outcome: 'served', error: null, pageCount: 2, ...changes },
  };
}

function delivery(edition: number): SiteState['deliveries'][number] {
  return {
    id: `d${edition}`,
    source: 'contentful',
    at: '2026-11-21T08:00:00.000Z',
    outcome: 'started',
    workflowId: 'w',
  };
}

const EXPORTS = [record(2), record(1)];

function stateOf(changes: Partial<SiteState> = {}): SiteState {
  return { ...idleSiteState('docs', []), deliveries: [delivery(2), delivery(1)], exports: EXPORTS, ...changes };
}

/** Two editions were published and served, one after the other. */
function historyOf(
  changes: Partial<Omit<History, 'ending'>> = {},
  ending: Partial<Omit<History['ending'], 'sites'>> & { state?: Partial<SiteState>; completedJobs?: string[] } = {},
): History {
  const { state, completedJobs = [at(1), at(2)], ...others } = ending;
  return {
    places: [DEPLOYMENT],
    edits: { docs: [0, 100, 200] },
    publishes: [publish(1, 100), publish(2, 200)],
    commands: [],
    faults: [],
    views: [view(1, 150), view(2, 250)],
    ...changes,
    ending: {
      ...{ atMs: 1_000, unsettled: [], isMoving: false, leftovers: [], ...others },
      sites: { docs: { state: stateOf(state), completedJobs, now: '2026-11-21T08:01:00.000Z' } },
    },
  };
}

const linkedUntil = (linkExpiresAt: string): Partial<SiteState> => ({
  deployments: [
    {
      ...{ name: 'docs', kind: 'valuesFile', wave: 1, state: 'live', version: 'v2', jobId: at(2), writtenAt: null },
      ...{ desired: { version: 'v2', jobId: at(2), reason: 'newest' }, servedAt: null, confirmed: true, linkExpiresAt },
      ...{ pin: null, off: false, error: null, url: null, proposal: null },
    },
  ],
});

const refused = (fromMs: number): View => view(0, fromMs, { status: 'refused', jobId: null, version: null, pages: [] });
const lock = [command('lock', 160), command('unlock', 300)];

describe('the judge', () => {
  const right: [string, History][] = [
    ['two editions one after the other', historyOf()],
    [
      'a rollback by command',
      historyOf({
        commands: [command('rollback', 255, { edition: 1 })],
        views: [view(2, 250), view(1, 260), view(2, 270)],
      }),
    ],
    [
      'a pin',
      historyOf({ commands: [command('pin', 255, { edition: 1 })], views: [view(2, 250), view(1, 260), view(2, 270)] }),
    ],
    [
      'an automatic rollback that the site lists',
      historyOf(
        { views: [view(1, 150), view(2, 250), view(1, 260), view(2, 270)] },
        { state: { exports: [record(2, { rolledBackAt: '2026-11-21T08:00:30.000Z' }), record(1)] } },
      ),
    ],
    [
      'a deployment that is killed',
      historyOf({
        faults: [{ victim: DEPLOYMENT.name, kind: 'kill', fromMs: 160, untilMs: 200 }],
        views: [view(1, 150), refused(170), view(2, 250)],
      }),
    ],
    [
      "an export more after the platform's clock was set back",
      historyOf(
        { faults: [{ victim: 'platform', kind: 'clock-ahead', fromMs: 110, untilMs: 190 }] },
        {
          state: { exports: [record(2), record(9, { jobId: null, outcome: 'failed', exportedAt: null }), record(1)] },
          completedJobs: [at(1), at(9), at(2)],
        },
      ),
    ],
    [
      'a failed export that is started again',
      historyOf(
        {},
        { state: { exports: [...EXPORTS, record(0, { outcome: 'failed', exportedAt: null, publishCount: 2 })] } },
      ),
    ],
    [
      'a delivery and a lock that were lost with what Temporal wrote before it was restored',
      historyOf(
        { faults: [{ victim: 'temporal', kind: 'restore', fromMs: 95, untilMs: 180 }], commands: lock },
        { state: { deliveries: [delivery(2)] } },
      ),
    ],
    ['what still changes in the end', historyOf({}, { unsettled: ['docs is exporting'], isMoving: true })],
    [
      'the job of an export that was given up',
      historyOf(
        { commands: [command('export', 110)] },
        {
          completedJobs: [at(1), at(2), at(3)],
          state: { exports: [...EXPORTS, record(0, { jobId: null, exportedAt: null, outcome: 'canceled' })] },
        },
      ),
    ],
    [
      'a second wave after the first one',
      historyOf({
        places: [DEPLOYMENT, SECOND],
        views: [view(1, 150), view(2, 240), view(2, 250, { place: SECOND.name })],
      }),
    ],
    [
      'a second wave that was seen earlier than the first one',
      historyOf({
        places: [DEPLOYMENT, SECOND],
        views: [view(1, 150), view(2, 250, { place: SECOND.name }), view(2, 255)],
      }),
    ],
    ['what was exported before a lock', historyOf({ commands: [command('lock', 210), command('unlock', 300)] })],
    [
      'a lock whose end may come late',
      historyOf({ commands: [command('unlock', 140, { answeredMs: null }), ...lock] }),
    ],
    ['a lock without a response', historyOf({ commands: [command('lock', 160, { answeredMs: null, status: null })] })],
    [
      'an approved version',
      historyOf({
        places: [FOLDER],
        commands: [command('approve', 240)],
        views: [view(2, 250, { place: FOLDER.name })],
      }),
    ],
  ];
  it.each(right)('accepts %s', (_, history) => {
    expect(judge(history)).toEqual([]);
  });

  const wrong: [ViolationKind, string, History][] = [
    ['lost', 'an edition that is never served', historyOf({ views: [view(1, 150)] })],
    [
      'lost',
      'an old page beside new ones',
      historyOf({
        views: [view(2, 250, { jobId: null, pages: [...view(2, 0).pages.slice(0, 1), ...view(1, 0).pages.slice(1)] })],
      }),
    ],
    [
      'lost',
      'an accepted delivery that the site does not list',
      historyOf({}, { state: { deliveries: [delivery(2)] } }),
    ],
    [
      'lost',
      'a publish that is listed for an export that began without it',
      historyOf({}, { state: { deliveries: [2, 1].map((edition) => ({ ...delivery(edition), exportNumber: 2 })) } }),
    ],
    ['lost', 'a deployment that never serves', historyOf({ views: [] })],
    [
      'doubled',
      'a delivery that is collected twice',
      historyOf({}, { state: { deliveries: [delivery(2), delivery(2), delivery(1)] } }),
    ],
    [
      'doubled',
      'a publish that is exported twice',
      historyOf({}, { state: { exports: [record(2), record(2), record(1)] } }),
    ],
    [
      'lost',
      'a publish whose export failed, which no other export collected',
      historyOf(
        {},
        { state: { exports: [record(2), record(1, { outcome: 'failed', exportedAt: null })] }, completedJobs: [at(2)] },
      ),
    ],
    ['doubled', 'a job that its site does not know', historyOf({}, { completedJobs: [at(1), at(3)] })],
    ['doubled', 'an export without a cause', historyOf({}, { completedJobs: [at(1), at(2), at(2)] })],
    [
      'backwards',
      'an older edition after a newer one',
      historyOf({ views: [view(2, 250), view(1, 260), view(2, 270)] }),
    ],
    [
      'backwards',
      'another edition than the one of the rollback',
      historyOf({
        commands: [command('rollback', 255, { edition: 0 })],
        views: [view(2, 250), view(1, 260), view(2, 270)],
      }),
    ],
    [
      'backwards',
      'a rollback before its command',
      historyOf({
        commands: [command('rollback', 280, { edition: 1 })],
        views: [view(2, 250), view(1, 260), view(2, 275)],
      }),
    ],
    ['mixed', 'two editions of one job', historyOf({ views: [view(1, 150, { jobId: at(2) }), view(2, 250)] })],
    [
      'mixed',
      'a part of a page',
      historyOf({ views: [view(2, 250, { pages: [{ path: '/', site: 'docs', edition: 2, isWhole: false }] })] }),
    ],
    ['expired', 'a link that is over in the end', historyOf({}, { state: linkedUntil('2026-11-21T08:00:59.000Z') })],
    [
      'stuck',
      'a delivery that is never accepted',
      historyOf({
        publishes: [publish(1, 100), publish(2, 200), { ...publish(3, 300), acceptedMs: null, deliveryId: null }],
      }),
    ],
    ['stuck', 'what is not settled in the end', historyOf({}, { unsettled: ['docs is exporting'] })],
    [
      'leaked',
      "another site's page",
      historyOf({ views: [view(2, 250, { pages: [{ path: '/', site: 'other', edition: 2, isWhole: true }] })] }),
    ],
    ['leaked', 'a secret in a log', historyOf({}, { leftovers: ['the log of api has the secret key'] })],
    ['leaked', 'what was published under a lock', historyOf({ commands: lock })],
    [
      'leaked',
      'what was published under a pin',
      historyOf({ commands: [command('pin', 160, { edition: 1 }), command('unpin', 300)] }),
    ],
    [
      'leaked',
      'a rejected export',
      historyOf({}, { state: { exports: [record(2, { outcome: 'rejected', writtenAt: null }), record(1)] } }),
    ],
    [
      'leaked',
      'what nobody approved',
      historyOf({
        places: [FOLDER],
        commands: [command('approve', 150)],
        views: [view(2, 250, { place: FOLDER.name })],
      }),
    ],
    [
      'leaked',
      'what nobody merged',
      historyOf({
        places: [{ ...FOLDER, awaits: 'merge' }],
        commands: [command('approve', 240), command('merge', 150)],
        views: [view(2, 250, { place: FOLDER.name })],
      }),
    ],
    [
      'leaked',
      'a second wave before the first one',
      historyOf({
        places: [DEPLOYMENT, SECOND],
        views: [view(2, 160, { place: SECOND.name }), view(1, 180), view(2, 250)],
      }),
    ],
    [
      'interrupted',
      'an error page',
      historyOf({ views: [view(1, 150), { ...refused(170), status: 503 }, view(2, 250)] }),
    ],
    [
      'interrupted',
      'a refused connection of a deployment that runs',
      historyOf({
        faults: [{ victim: 'api', kind: 'kill', fromMs: 160, untilMs: 200 }],
        views: [view(1, 150), refused(170), view(2, 250)],
      }),
    ],
  ];
  it.each(wrong)('finds as %s: %s', (kind, _, history) => {
    const kinds = new Set(judge(history).map((each) => each.kind));
    expect([...kinds]).toEqual([kind]);
  });
});
