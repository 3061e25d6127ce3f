import { beginAgentRun, requestAgentJobCancel } from '../../../platform/store/agent-job-transitions.ts';
import {
  type AgentRunKey,
  type AgentRunOutcome,
  getAgentRun,
  keepRunBase,
  keepRunCommit,
  keepRunLog,
  keepRunOutcome,
  keptOutcome,
  listAgentRunLogs,
} from '../../../platform/store/agent-runs.ts';
import type { Database } from '../../../platform/store/database.ts';
import type { StoreFixture } from './store-fixture.ts';

/** The tests of the queries for runs of agent jobs, which every kind of PostgreSQL must pass. */
export function agentRunsContract(stores: StoreFixture): void {
  let db: Database;
  beforeAll(() => {
    ({ db } = stores);
  });

  async function newRun(prompt = 'Do it'): Promise<AgentRunKey> {
    const { id, run } = await stores.newAgentJob({ prompt });
    return { jobId: id, run };
  }

  it.each([
    ['a NUL', 'a\u0000b'],
    ['lone surrogates', '\ud800 and \udfff'],
    ['right-to-left text with marks', '\u202eעברית\u200f العربية\u202c'],
    ['shell, template and SQL syntax', "$(rm -rf /) `id` {{event}} %s \\u0000 '; drop table --\r\nBcc: a@b.c"],
    ['100,000 characters of four bytes each two', '𝒂'.repeat(50_000)],
  ])('returns a prompt with %s unchanged', async (_what, prompt) => {
    const key = await newRun(prompt);
    expect((await getAgentRun(db, key))?.prompt === prompt).toBe(true);
  });

  it('finds no run with another number or job', async () => {
    const key = await newRun();
    expect(await getAgentRun(db, { ...key, run: 2 })).toBeUndefined();
    expect(await getAgentRun(db, { ...key, jobId: 'aj_none' })).toBeUndefined();
  });

  it('stores the first base commit, and returns it to later writers', async () => {
    const key = await newRun();
    const bases = await Promise.all(['a', 'b', 'c'].map((baseCommit) => keepRunBase(db, { ...key, baseCommit })));
    expect(new Set(bases).size).toBe(1);
    expect(await keepRunBase(db, { ...key, baseCommit: 'late' })).toBe(bases[0]);
    expect(await getAgentRun(db, key)).toMatchObject({ baseCommit: bases[0] });
  });

  it('stores the newest commit', async () => {
    const key = await newRun();
    for (const commit of ['d', 'e']) {
      expect(await keepRunCommit(db, { ...key, commit, endedPrLink: null })).toBe(true);
    }
    expect(await getAgentRun(db, key)).toMatchObject({ commit: 'e' });
  });

  it('stores no commit of a run whose cancel was accepted', async () => {
    const key = await newRun();
    await beginAgentRun(db, key);
    await requestAgentJobCancel(db, key.jobId);
    expect(await keepRunCommit(db, { ...key, commit: 'd', endedPrLink: null })).toBe(false);
    expect(await getAgentRun(db, key)).toMatchObject({ commit: null });
  });

  it.each<AgentRunOutcome>([
    { kind: 'changed', tree: 't'.repeat(40), packKey: 'agent-jobs/a/packs/1' },
    { kind: 'unchanged' },
    { kind: 'failed', error: 'The agent ended with exit code 1' },
  ])('stores the first outcome, $kind, and returns it to later writers', async (outcome) => {
    const key = await newRun();
    expect(await keepRunOutcome(db, { ...key, outcome })).toEqual(outcome);
    const later = { kind: 'failed', error: 'a retry' } as const;
    expect(await keepRunOutcome(db, { ...key, outcome: later })).toEqual(outcome);
    const run = await getAgentRun(db, key);
    expect(run && keptOutcome(run)).toEqual(outcome);
  });

  it('has no outcome before one is stored', async () => {
    const run = await getAgentRun(db, await newRun());
    expect(run).toBeDefined();
    expect(run && keptOutcome(run)).toBeUndefined();
  });

  it('stores the outcome of one of several concurrent writers', async () => {
    const key = await newRun();
    const offered = ['1', '2', '3', '4'].map((name) => ({ kind: 'changed', tree: name, packKey: name }) as const);
    const stored = await Promise.all(offered.map((outcome) => keepRunOutcome(db, { ...key, outcome })));
    expect(new Set(stored.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    expect(offered).toContainEqual(stored[0]);
  });

  it('replaces characters of an error that the database cannot store', async () => {
    const outcome = { kind: 'failed', error: 'a\u0000b\ud800' } as const;
    const kept = { kind: 'failed', error: 'a\ufffdb\ufffd' };
    expect(await keepRunOutcome(db, { ...(await newRun()), outcome })).toEqual(kept);
  });

  it('rejects a base commit and an outcome for a run that does not exist', async () => {
    const key = { jobId: 'aj_none', run: 1 };
    await expect(keepRunBase(db, { ...key, baseCommit: 'a' })).rejects.toThrow('no run 1 of the agent job aj_none');
    await expect(keepRunOutcome(db, { ...key, outcome: { kind: 'unchanged' } })).rejects.toThrow('no run 1');
  });

  it('lists the newest log of each run, in the order of the runs', async () => {
    const key = await newRun();
    expect(await listAgentRunLogs(db, key.jobId)).toEqual([]);
    await keepRunLog(db, { ...key, logKey: 'logs/a', logSizeBytes: 1 });
    await keepRunLog(db, { ...key, logKey: 'logs/b', logSizeBytes: 2 });
    expect(await listAgentRunLogs(db, key.jobId)).toEqual([{ run: 1, logKey: 'logs/b', startedAt: null }]);
  });
}
