import { runServe } from '../../bench/serve/run-serve.ts';
import { reportServe } from '../../bench/serve.ts';
import { runSites } from '../../bench/sites/run-sites.ts';
import { reportSites } from '../../bench/sites.ts';
import { runStorm } from '../../bench/storm/run-storm.ts';
import { measureRounds } from '../../bench/webhooks/rounds.ts';

/** Only stops a test that hangs: the others of its tier may keep all cores busy. */
const TIMEOUT_MS = 600_000;

const DELIVERIES = 400;
const progress = (): void => undefined;

test(
  'a storm loses nothing, exports two at a time at most and the last publish too, and is told of in short histories',
  async () => {
    const storm = await runStorm({ deliveries: DELIVERIES, inFlight: 64 }, { progress });
    expect(storm).toMatchObject({ missing: 0, lastExported: true, sent: { acknowledged: DELIVERIES } });
    expect(storm.mostAtATime).toBeLessThanOrEqual(2);
    expect(storm.runs.reduce((sum, { signals }) => sum + signals, 0)).toBeLessThan(DELIVERIES / 2);
    for (const { events } of storm.runs) expect(events).toBeLessThan(10_000);
    for (const samples of Object.values(storm.memory)) expect(Math.min(...samples)).toBeGreaterThan(10);
  },
  TIMEOUT_MS,
);

test(
  'every case of the webhooks bench gets answers that count',
  async () => {
    const loop = { inFlight: 8, warmUpMs: 0, measureMs: 300 };
    const rounds = await measureRounds({ ...loop, rounds: 1, worker: false }, { progress });
    const cases = rounds.flatMap((round) => Object.entries(round));
    expect(cases.map(([name]) => name).sort()).toEqual(['express', 'rawMany', 'rawOne', 'receiverMany', 'receiverOne']);
    for (const [name, { perSecond, p50Ms, p99Ms }] of cases) {
      expect([name, perSecond > 0, p50Ms > 0, p99Ms >= p50Ms]).toEqual([name, true, true, true]);
    }
  },
  TIMEOUT_MS,
);

test(
  'the sites bench counts whole refreshes of the published sites, none while sites are idle, and all after a restart',
  async () => {
    const refreshed = 10;
    const figures = await runSites({ sites: 20, refreshed, linkSeconds: 5, idleSeconds: 1 }, { progress });
    const { starting, idle, refreshing, restart } = figures;
    // A write that timed out on a busy machine is tried again while the others are idle.
    expect(idle.links > 0 || idle.events === 0).toBe(true);
    expect(idle.seconds).toBeGreaterThan(0);
    expect(refreshing.links).toBeGreaterThanOrEqual(refreshed);
    // Settings, link and values file are an activity each, of three events.
    expect(refreshing.events).toBeGreaterThanOrEqual(9 * refreshing.links);
    for (const size of [starting.peakMb, idle.residentMb, refreshing.peakMb, restart.peakMb]) {
      expect(size).toBeGreaterThan(10);
    }
    expect(restart.firstSeconds).toBeGreaterThan(0);
    expect(restart.allSeconds).toBeGreaterThanOrEqual(restart.firstSeconds);
    const report = reportSites(figures);
    expect(report).toMatch(/^sites +20$/m);
    expect(report).toContain("Temporal's dev server on a database file");
    expect(report).not.toContain('NaN');
  },
  TIMEOUT_MS,
);

test(
  'every case of the serve bench gets answers from a deployment, sirv and nginx alike',
  async () => {
    const figures = await runServe({ rounds: 1, connections: 4, seconds: 1 }, { progress });
    expect(Object.keys(figures)).toHaveLength(5);
    for (const [name, contenders] of Object.entries(figures)) {
      for (const [contender, [sample]] of Object.entries(contenders)) {
        expect([name, contender, sample?.failed, (sample?.perSecond ?? 0) > 0]).toEqual([name, contender, 0, true]);
      }
    }
    expect(reportServe(figures)).not.toContain('NaN');
  },
  TIMEOUT_MS,
);
