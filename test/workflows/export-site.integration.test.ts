import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { defaultPayloadConverter } from '@temporalio/common';
import { z } from 'zod';
import { BASELINE, SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import { makeHangingFile } from '../helpers/hanging-file.ts';
import { runsOf } from '../helpers/replay.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import type { SiteFixture } from './site-fixture.ts';
import { useSites } from './use-sites.ts';

const { startSite, server } = useSites('dev-server', () => ({ searchAttributes: true }));

/** Publishes and waits for the export. Returns the job. */
async function exportContent(site: SiteFixture, content: number): Promise<string> {
  const jobs = site.api.jobs.length + 1;
  site.api.behaviour.content = content;
  await site.publish();
  const isServed = ({ phase }: { phase: string }) => ['live', 'held'].includes(phase) && site.api.jobs.length === jobs;
  await site.until(`live with ${content}`, isServed);
  const jobId = site.api.jobs[jobs - 1]?.jobId;
  if (jobId === undefined) throw new Error('The live site has no job');
  return jobId;
}

async function pin(site: SiteFixture, version: string | null): Promise<void> {
  const text = (await readFile(site.valuesFile, 'utf8')).replace(/\n {2}version:.*/, '');
  await writeFile(site.valuesFile, version ? text.replace('  enabled:', `  version: ${version}\n  enabled:`) : text);
}

/** Resets the workflow to just before its first start of an export, so that it repeats that idempotency key. */
async function resetBeforeFirstStart(site: SiteFixture): Promise<void> {
  const { client } = server();
  const { runId } = await site.handle.describe();
  const { events } = await site.handle.fetchHistory();
  const list = events ?? [];
  const start = list.findIndex(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name === 'startExport',
  );
  const workflowTask = list
    .slice(0, start)
    .findLast(({ workflowTaskCompletedEventAttributes: completed }) => completed);
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId: site.handle.workflowId, runId },
    workflowTaskFinishEventId: workflowTask?.eventId ?? null,
    reason: 'a test',
    requestId: randomUUID(),
  });
}

/** The deployment writes of a run in order: the timeout in seconds for each start, and `ended` for each end. */
function writesOf({ events }: Pick<Awaited<ReturnType<SiteFixture['handle']['fetchHistory']>>, 'events'>) {
  const started = new Set<string>();
  return (events ?? []).flatMap<string | number>((event) => {
    const { activityType, scheduleToCloseTimeout } = event.activityTaskScheduledEventAttributes ?? {};
    if (activityType?.name === 'writeDeployment') {
      started.add(String(event.eventId));
      return [Number(scheduleToCloseTimeout?.seconds)];
    }
    const ended =
      event.activityTaskCompletedEventAttributes ??
      event.activityTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes;
    return ended && started.has(String(ended.scheduledEventId)) ? ['ended'] : [];
  });
}

const report = z.object({ outcome: z.string(), jobId: z.string().nullable() });

/** The results of the deployment writes of a run, oldest first. */
function reportsOf(history: unknown): z.infer<typeof report>[] {
  const { events } = z.object({ events: z.array(z.any()) }).parse(history);
  return events.flatMap(({ activityTaskCompletedEventAttributes: completed }) => {
    const parsed = report.safeParse(completed && defaultPayloadConverter.fromPayload(completed.result?.payloads?.[0]));
    return parsed.success ? [parsed.data] : [];
  });
}

// These tests run concurrently, because they mostly wait. The longest comes first.
describe('a site', () => {
  it.concurrent("is held at an operator's pin with a fresh link, and serves the newest version once the pin is removed", async () => {
    const site = await startSite();
    site.api.behaviour.linkLifetimeMs = 4_000;
    const first = await exportContent(site, 1);
    await pin(site, 'v1');
    const second = await exportContent(site, 2);
    const held = await site.until('held', ({ phase }) => phase === 'held');
    expect(held.deployments[0]).toMatchObject({ jobId: first, version: 'v1', state: 'held' });
    const before = await site.deployed();
    // From now on no refresh is due that could notice the removal of the pin.
    site.api.behaviour.linkLifetimeMs = 3_600_000;
    await site.until(
      'refreshed',
      (state) => Date.parse(state.linkExpiresAt ?? '') > (before?.expiresAtMs ?? 0) + 60_000,
    );
    expect((await site.deployed())?.jobId).toBe(first);
    await pin(site, null);
    await site.until('live', ({ phase, deployments }) => phase === 'live' && deployments[0]?.jobId === second);
    expect((await site.deployed())?.content).toBe(2);
  });

  it.concurrent('is exported, bundled and deployed, its link is refreshed, and the Temporal UI shows that', async () => {
    const site = await startSite();
    site.api.behaviour.linkLifetimeMs = 4_000;
    const jobId = await exportContent(site, 1);
    const first = await site.deployed();
    expect(first?.jobId).toBe(jobId);
    site.api.behaviour.linkLifetimeMs = 3_600_000;
    const expiresAtMs = async () => (await site.deployed())?.expiresAtMs ?? 0;
    await waitFor(async () => (await expiresAtMs()) > (first?.expiresAtMs ?? 0), { describe: 'got a fresher link' });
    expect(site.api.jobs).toHaveLength(1);
    const isShown = async () => {
      const { searchAttributes } = await site.handle.describe();
      expect(searchAttributes).toMatchObject({
        [SEARCH_ATTRIBUTES.site]: [site.site],
        [SEARCH_ATTRIBUTES.phase]: ['live'],
        [SEARCH_ATTRIBUTES.version]: ['v1'],
        [SEARCH_ATTRIBUTES.linkExpiresAt]: [new Date(await expiresAtMs())],
      });
      expect(JSON.stringify(await site.handle.query('__temporal_workflow_metadata'))).toContain('serves v1');
      return true;
    };
    await waitFor(isShown, { describe: 'shown in the UI' });
  });

  it.concurrent('that is paused collects publishes, keeps its link fresh, and exports them once it is resumed', async () => {
    const site = await startSite();
    site.api.behaviour.linkLifetimeMs = 4_000;
    await exportContent(site, 1);
    expect(await site.handle.executeUpdate('pause')).toMatchObject({ phase: 'paused' });
    site.api.behaviour.content = 2;
    await site.publish();
    await site.publish();
    const { linkExpiresAt } = await site.state();
    await site.until('refreshed', (state) => state.linkExpiresAt !== linkExpiresAt);
    expect(site.api.jobs).toHaveLength(1);
    await expect(site.handle.executeUpdate('exportNow')).rejects.toThrow();
    await site.handle.executeUpdate('resume');
    await site.until('live', ({ phase }) => phase === 'live' && site.api.jobs.length === 2);
    expect((await site.deployed())?.content).toBe(2);
  });

  it.concurrent('completes refreshNow once the fresh link is deployed, or fails with the reason', async () => {
    const site = await startSite();
    await exportContent(site, 1);
    const before = await site.deployed();
    await site.handle.executeUpdate('refreshNow');
    expect((await site.deployed())?.expiresAtMs).toBeGreaterThan(before?.expiresAtMs ?? Number.POSITIVE_INFINITY);
    site.api.behaviour.intercept = () => ({ status: 403, body: '{"error":"no plan"}' });
    await expect(site.handle.executeUpdate('refreshNow')).rejects.toMatchObject({
      cause: { message: expect.stringContaining('(403): no plan') },
    });
  });

  it.concurrent('shares one refresh among all who ask while another one runs', async () => {
    const site = await startSite();
    await exportContent(site, 1);
    const { refreshes: before } = await site.state();
    let refusals = Number.POSITIVE_INFINITY;
    site.api.behaviour.intercept = ({ path }) =>
      path.endsWith('/bundle') && refusals-- > 0 ? { status: 503 } : undefined;
    // Temporal takes ten unanswered updates of a workflow.
    const asked = await Promise.all(
      Array.from({ length: 9 }, () => site.handle.startUpdate('refreshNow', { waitForStage: 'ACCEPTED' })),
    );
    // A link is as old as the attempt that got it. One may have begun before the last update: the one after it didn't.
    refusals = 1;
    await Promise.all(asked.map((update) => update.result()));
    const { refreshes, actions } = await site.state();
    expect(refreshes.length - before.length).toBe(1);
    expect(actions.filter(({ action, error }) => action === 'refresh' && error === null)).toHaveLength(9);
  });

  it.concurrent('serves the earlier job after a rollback until the next publish', async () => {
    const site = await startSite();
    site.api.behaviour.linkLifetimeMs = 3_000;
    const first = await exportContent(site, 1);
    await exportContent(site, 2);
    const state = await site.handle.executeUpdate('rollback', { args: [first] });
    const [exportedAt, withheldAt] = site.api.jobs.map(({ updatedAtMs }) => new Date(updatedAtMs).toISOString());
    const withheld = { version: 'v2', exportedAt: withheldAt };
    expect(state).toMatchObject({ jobId: first, version: 'v1', exportedAt, withheld });
    const shown = JSON.stringify(await site.handle.query('__temporal_workflow_metadata'));
    expect(shown).toContain(`withholds the newer v2, exported ${withheldAt}`);
    const rolledBack = await site.deployed();
    expect(rolledBack?.content).toBe(1);
    await site.until(
      'refreshed',
      ({ linkExpiresAt }) => Date.parse(linkExpiresAt ?? '') > (rolledBack?.expiresAtMs ?? 0),
    );
    expect((await site.deployed())?.content).toBe(1);
    await exportContent(site, 3);
    expect((await site.deployed())?.content).toBe(3);
    expect((await site.state()).withheld).toBeNull();
  });

  it.concurrent('has no mark that an earlier release lacks, until something new happens to it', async () => {
    const site = await startSite();
    const marksOf = async () => (await site.handle.describe()).searchAttributes.TemporalChangeVersion;
    const first = await exportContent(site, 1);
    await exportContent(site, 2);
    expect(await marksOf()).toEqual([BASELINE]);
    await site.handle.executeUpdate('rollback', { args: [first] });
    await waitFor(async () => (await marksOf())?.length === 2, { describe: 'marked the rollback' });
  });

  it.concurrent('cancels a running export for a rollback', async () => {
    const site = await startSite();
    const first = await exportContent(site, 1);
    await exportContent(site, 2);
    site.api.behaviour.jobDurationMs = 3_600_000;
    await site.publish();
    await site.until('exporting', ({ phase, exports: [newest] }) => phase === 'exporting' && newest?.jobId != null);
    await site.handle.executeUpdate('rollback', { args: [first] });
    expect(site.api.jobs[2]?.status).toBe('failed');
    expect(await site.state()).toMatchObject({ phase: 'live', jobId: first, lastError: null });
    expect((await site.deployed())?.content).toBe(1);
    site.api.behaviour.jobDurationMs = 0;
    await exportContent(site, 3);
    expect(await site.state()).toMatchObject({ phase: 'live', lastError: null });
    expect(site.api.jobs.map(({ status }) => status)).toEqual(['completed', 'completed', 'failed', 'completed']);
  });

  it.concurrent('exports again after a reset, and never deploys the old export of the repeated idempotency key', async () => {
    const site = await startSite();
    await exportContent(site, 1);
    const newest = await exportContent(site, 2);
    site.api.behaviour.content = 3;
    await resetBeforeFirstStart(site);
    await site.until('live again', ({ phase, lastError }) => {
      return phase === 'live' && lastError === null && site.api.jobs.length > 2;
    });
    expect((await site.deployed())?.content).toBe(3);
    const [run] = await runsOf(server().client, site.handle.workflowId);
    const writes = reportsOf(run?.history);
    expect(writes).toContainEqual({ outcome: 'older', jobId: newest });
    expect(writes.filter(({ outcome }) => outcome === 'written').map(({ jobId }) => jobId)).not.toContain(
      site.api.jobs[0]?.jobId,
    );
    const keys = site.api.jobs.map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it.concurrent('rejects a rollback to a job of another domain or an unknown job, and changes nothing', async () => {
    const site = await startSite();
    await exportContent(site, 1);
    const expectRejection = async (jobId: string, why: string): Promise<void> => {
      const cause = { message: expect.stringContaining(why) };
      await expect(site.handle.executeUpdate('rollback', { args: [jobId] })).rejects.toMatchObject({ cause });
    };
    await expectRejection('se_unknown', 'no version or job se_unknown: v1 exist');
    await expectRejection('', 'expected a version or the id of a completed job');
    const other = await startSite();
    const foreign = await exportContent(other, 2);
    other.api.behaviour.domain = 'other.example.com';
    await expectRejection(foreign, 'it exported other.example.com');
    expect((await site.deployed())?.content).toBe(1);
    expect(await site.state()).toMatchObject({ phase: 'live', lastError: null });
  });

  it.concurrent('goes back to an older version that is pinned, without a refresh or a publish', async () => {
    const site = await startSite();
    const first = await exportContent(site, 1);
    await exportContent(site, 2);
    await pin(site, 'v1');
    // The signal of a worker that noticed the pin (announce-pins.test.ts).
    await site.handle.signal('configChanged');
    await site.until('held at v1', ({ phase, deployments }) => phase === 'held' && deployments[0]?.jobId === first);
    expect((await site.deployed())?.content).toBe(1);
  });

  it.concurrent('does not enable a deployment that an operator disabled, and deploys the newest version once it is enabled', async () => {
    const site = await startSite();
    await exportContent(site, 1);
    const deployed = await readFile(site.valuesFile, 'utf8');
    await writeFile(site.valuesFile, deployed.replace('enabled: true', 'enabled: false'));
    // The signal of a worker that noticed the change (announce-pins.test.ts).
    await site.handle.signal('configChanged');
    await site.until('off', ({ phase, deployments }) => phase === 'off' && deployments[0]?.off === true);
    site.api.behaviour.content = 2;
    await site.publish();
    await site.until('exported', ({ phase, deployments: [first] }) => phase === 'off' && first?.version === 'v2');
    expect(await readFile(site.valuesFile, 'utf8')).toContain('enabled: false');
    expect((await site.deployed())?.content).toBe(2);
    // An operator may also restore an old copy of the file.
    await writeFile(site.valuesFile, deployed);
    await site.until('live', ({ phase, deployments: [first] }) => {
      const isV2 = first?.jobId === site.api.jobs[1]?.jobId;
      return phase === 'live' && first?.off === false && isV2 && first.linkExpiresAt !== null;
    });
    expect((await site.deployed())?.content).toBe(2);
  });

  it.concurrent('writes to all deployments concurrently, and shows why one of them hangs or fails', async () => {
    const site = await startSite();
    const { valuesFile } = site;
    const [hanging, failing] = [`${valuesFile}.hanging`, `${valuesFile}.failing`];
    const pipe = await makeHangingFile(hanging);
    try {
      await mkdir(failing);
      site.configure({ deployments: [hanging, failing, valuesFile].map((file) => ({ valuesFile: file })) });
      site.api.behaviour.content = 1;
      await site.publish();
      // On a busy machine a first write may time out after its 8 s. The refresh retries it.
      await site.until('failed with their own errors', ({ deployments: [first, second, third] }) => {
        const hangs = /no answer from its file system|does not respond|an earlier write has not ended/.test(
          first?.error?.message ?? '',
        );
        const isDirectory = second?.error?.message.includes('it is a folder') === true;
        return hangs && isDirectory && third?.error === null && third.jobId === site.api.jobs[0]?.jobId;
      });
      expect((await site.deployed())?.content).toBe(1);
      // All three started before one of them ended, each with a timeout of 8 seconds.
      const steps = writesOf(await site.handle.fetchHistory()).slice(0, 4);
      expect(steps).toEqual([8, 8, 8, 'ended']);
      await rmdir(failing);
      await pipe.letGo();
      await site.until('all deployed', (state) =>
        state.deployments.every(({ error, jobId }) => !error && jobId !== null),
      );
    } finally {
      await pipe.end();
    }
  });

  it.concurrent('keeps exporting with an unknown pin on a new file, and deploys once the pin is removed', async () => {
    const site = await startSite();
    await writeFile(site.valuesFile, 'staticExport:\n  version: v9\n  enabled: false\n');
    await site.publish();
    const held = await site.until('held', ({ phase }) => phase === 'held');
    expect(held).toMatchObject({
      version: null,
      deployments: [{ state: 'held', pin: 'v9', version: null, jobId: null }],
    });
    site.api.behaviour.content = 2;
    await site.publish();
    await site.until('exported again', ({ phase }) => phase === 'held' && site.api.jobs.length === 2);
    await site.handle.executeUpdate('exportNow');
    await site.until('exported on request', ({ phase }) => phase === 'held' && site.api.jobs.length === 3);
    await writeFile(site.valuesFile, 'staticExport:\n  enabled: false\n');
    const newest = site.api.jobs[2]?.jobId;
    await site.until('live', ({ phase, deployments }) => phase === 'live' && deployments[0]?.jobId === newest);
    expect((await site.deployed())?.jobId).toBe(newest);
  });

  it.concurrent('refreshes the links of other deployments if one is pinned to a lost bundle', async () => {
    const site = await startSite();
    const other = `${site.valuesFile}.other`;
    site.configure({ deployments: [{ valuesFile: site.valuesFile }, { valuesFile: other }] });
    await exportContent(site, 1);
    await pin(site, 'v1');
    await exportContent(site, 2);
    site.api.behaviour.intercept = ({ path }) => (path.endsWith('1/bundle') ? { status: 410 } : undefined);
    const before = await readFile(other, 'utf8');
    await expect(site.handle.executeUpdate('refreshNow')).rejects.toThrow();
    expect((await site.state()).lastError).toMatchObject({ status: 410 });
    expect(await readFile(other, 'utf8')).not.toBe(before);
    expect(site.api.jobs).toHaveLength(2);
  });

  it.concurrent('deploys its newest export to a deployment that was added to the configuration', async () => {
    const site = await startSite({ deployments: [] });
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    expect(await site.deployed()).toBeNull();
    site.configure({});
    await site.handle.signal('configChanged');
    await site.until('deployed', ({ deployments }) => deployments[0]?.jobId === site.api.jobs[0]?.jobId);
    expect(site.api.jobs).toHaveLength(1);
  });

  it.concurrent('keeps its last settings and reports that if its worker no longer knows it, and ends only when it is removed', async () => {
    const site = await startSite();
    await exportContent(site, 1);
    site.configure(undefined);
    site.api.behaviour.content = 2;
    await site.publish();
    const state = await site.until(
      'unconfigured',
      ({ phase }) => phase === 'unconfigured' && site.api.jobs.length === 2,
    );
    expect(state.lastError?.message).toContain('not configured on the worker that was asked');
    await waitFor(async () => (await site.deployed())?.content === 2, { describe: 'deployed' });
    site.configure({});
    await site.until('known again', ({ phase, lastError }) => phase === 'live' && lastError === null);
    expect(await site.handle.executeUpdate('remove')).toMatchObject({ phase: 'live', jobId: site.api.jobs[1]?.jobId });
    await expect(site.handle.result()).resolves.toBeUndefined();
    expect((await site.deployed())?.content).toBe(2);
  });

  it.concurrent('keeps its publishes until a worker knows it', async () => {
    const site = await startSite();
    site.configure(undefined);
    await site.publish();
    const waiting = await site.until('unconfigured', ({ phase }) => phase === 'unconfigured');
    expect(waiting).toMatchObject({
      pendingCount: 1,
      lastError: { message: expect.stringContaining('not configured') },
    });
    const rollback = site.handle.executeUpdate('rollback', { args: ['se_1'] });
    await expect(rollback).rejects.toMatchObject({ cause: { message: expect.stringContaining('not configured') } });
    site.configure({});
    await site.until('live', ({ phase, lastError }) => phase === 'live' && lastError === null);
    expect(site.api.jobs).toHaveLength(1);
  });

  it.concurrent('cancels its running export when it is removed, and starts no other', async () => {
    const site = await startSite();
    site.api.behaviour.jobDurationMs = 3_600_000;
    await site.publish();
    await site.until('exporting', ({ phase, exports: [newest] }) => phase === 'exporting' && newest?.jobId != null);
    await site.publish();
    const removed = await site.handle.executeUpdate('remove');
    expect(removed).toMatchObject({ phase: 'exporting', pendingCount: 1 });
    await expect(site.handle.result()).resolves.toBeUndefined();
    expect(site.api.jobs.map(({ status }) => status)).not.toContain('processing');
    expect(site.api.jobs).toHaveLength(1);
  });

  it.concurrent('waits for nothing if it is removed while the start of its export is to be repeated', async () => {
    const site = await startSite();
    site.api.behaviour.intercept = ({ method }) => (method === 'POST' ? { status: 503 } : undefined);
    await site.publish();
    await site.until('to be repeated', ({ nextTryAt }) => nextTryAt !== null);
    await site.handle.executeUpdate('remove');
    await expect(site.handle.result()).resolves.toBeUndefined();
    const events = (await site.handle.fetchHistory()).events ?? [];
    const removal = events.findIndex((each) => each.workflowExecutionUpdateAcceptedEventAttributes);
    expect(events.slice(removal).filter((each) => each.timerStartedEventAttributes)).toEqual([]);
  });

  it.concurrent('loses no publish if another worker does not know it', async () => {
    const site = await startSite();
    await exportContent(site, 1);
    const stranger = await site.startStranger();
    for (const content of [2, 3]) {
      site.api.behaviour.content = content;
      await site.publish();
      // The phase is `unconfigured` for as long as only the other worker is asked. The known settings stay in force.
      await site.until(`deployed ${content}`, ({ version, exports: [newest] }) => {
        return version === `v${content}` && newest?.outcome === 'written';
      });
    }
    expect((await site.deployed())?.content).toBe(3);
    expect(site.api.jobs).toHaveLength(3);
    expect(await site.handle.describe()).toMatchObject({ status: { name: 'RUNNING' } });
    await stranger.stop();
  });
});
