import { readFile } from 'node:fs/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { SIGNALS, WORKFLOW_IDS, WORKFLOW_TYPES } from '../../contract/names.ts';
import { renamedSite } from '../../workflows/renamed-site.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import type { SiteFixture } from './site-fixture.ts';
import { useSites } from './use-sites.ts';

const { startSite, server, closeLater } = useSites('dev-server');

/** Renames the site in the configuration and its workflow. */
async function rename(site: SiteFixture, to: string): Promise<void> {
  const before = site.handle;
  site.renameInConfiguration(to);
  await before.executeUpdate('rename', { args: [to, { actor: 'ada' }] });
  // A rename gets its response before the run has ended.
  await before.result();
}

/** The site that last wrote the values file, by the note beside it. */
async function writerOf({ valuesFile }: SiteFixture): Promise<unknown> {
  const { site } = JSON.parse(await readFile(`${valuesFile}.galley.json`, 'utf8'));
  return site;
}

const untilLive = (site: SiteFixture, version: string) =>
  site.until(`live at ${version}`, (state) => state.phase === 'live' && state.version === version);

async function activitiesOf({ handle }: SiteFixture): Promise<string[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes }) => {
    return activityTaskScheduledEventAttributes?.activityType?.name ?? [];
  });
}

describe('a renamed site', () => {
  it.concurrent('keeps its histories, lock, running export and file, which the new name writes', async () => {
    const site = await startSite();
    const old = site.site;
    await site.publish({ id: 'first' });
    await untilLive(site, 'v1');
    await site.handle.executeUpdate('lock', { args: [{ reason: 'a release' }] });
    site.api.behaviour.jobDurationMs = 3_600_000;
    await site.publish();
    const before = await site.until('exporting', ({ exports: [newest] }) => newest?.jobId === site.api.jobs[1]?.jobId);

    await rename(site, `renamed-${old}`);
    const after = await site.state();
    expect(after.actions[0]).toMatchObject({ actor: 'ada', action: 'rename', detail: `${old} to ${site.site}` });
    expect(after.actions.slice(1)).toEqual(before.actions);
    expect([after.lock, after.exports]).toEqual([before.lock, before.exports]);
    expect(after.deliveries.map(({ id }) => id)).toEqual(before.deliveries.map(({ id }) => id));
    expect(after.deployments).toMatchObject([{ version: 'v1', linkExpiresAt: before.linkExpiresAt }]);
    expect((await site.handle.describe()).memo).toMatchObject({ site: site.site, renamedFrom: old });

    site.api.behaviour.jobDurationMs = 0;
    await site.until('exported', ({ exports: [newest] }) => newest?.exportedAt != null);
    expect(await writerOf(site)).toBe(old);
    await site.handle.executeUpdate('unlock');
    const { deployments } = await untilLive(site, 'v2');
    expect(deployments).toMatchObject([{ error: null, jobId: site.api.jobs[1]?.jobId }]);
    expect(await writerOf(site)).toBe(site.site);
    expect(site.api.jobs).toHaveLength(2);
    // The first write had the right to take the file over.
    const activities = await activitiesOf(site);
    expect(activities.filter((name) => name === 'writeDeployment')).toHaveLength(1);
    expect(activities).not.toContain('findOwner');
    await site.publish({ id: 'first' });
    await site.until('a duplicate', ({ deliveries: [newest] }) => newest?.outcome === 'duplicate');
  });

  it.concurrent('goes on under its name, unchanged, if the new one runs', async () => {
    const [site, other] = [await startSite(), await startSite()];
    const old = site.handle;
    await other.publish();
    await untilLive(other, 'v1');
    await site.publish();
    await untilLive(site, 'v1');
    await expect(old.executeUpdate('rename', { args: [other.site] })).rejects.toMatchObject({
      cause: { message: expect.stringContaining(`${other.site} runs already`) },
    });
    await expect(old.executeUpdate('rename', { args: [site.site] })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('expected another name') },
    });
    await site.publish();
    const { actions, deployments } = await untilLive(site, 'v2');
    expect(actions).toMatchObject([{ action: 'rename', error: expect.stringContaining('runs already') }]);
    expect(deployments).toMatchObject([{ error: null }]);
    expect(await writerOf(site)).toBe(site.site);
    expect((await other.state()).actions).toEqual([]);
  });

  it.concurrent('can be renamed back, and again', async () => {
    const site = await startSite();
    const [first, second] = [site.site, `${site.site}-b`];
    await site.publish();
    await untilLive(site, 'v1');
    for (const [index, name] of [second, first, second].entries()) {
      await rename(site, name);
      // A refresh needs no newer job.
      await site.handle.executeUpdate('refreshNow');
      await waitFor(async () => (await writerOf(site)) === name, { describe: `${name} has written the file` });
      await site.publish();
      const { deployments } = await untilLive(site, `v${index + 2}`);
      expect(deployments).toMatchObject([{ error: null }]);
    }
    expect((await site.state()).exports.map(({ number }) => number)).toEqual([4, 3, 2, 1]);
    const query = `WorkflowType = '${WORKFLOW_TYPES.renamedSite}' AND ExecutionStatus = 'Running'`;
    const renames = async () => {
      const found: unknown[] = [];
      for await (const { memo } of server().client.workflow.list({ query })) {
        if (memo?.site === first) found.push(memo);
      }
      return found.length === 2 && found;
    };
    const both = [{ site: first, to: second }];
    expect(await waitFor(renames, { describe: 'both renames are listed' })).toEqual([...both, ...both]);
  });

  it.concurrent('has every publish that its old name accepted while it was renamed', async () => {
    const site = await startSite();
    await site.publish();
    await untilLive(site, 'v1');
    const old = site.handle;
    const accepted: string[] = [];
    async function publishToOldName(): Promise<void> {
      // Few enough that the workflow is not busy with them alone.
      for (let number = 1; number <= 60; number++) {
        const [id, receivedAt] = [`late-${number}`, new Date().toISOString()];
        const event = { source: 'test', topic: 'x', action: 'publish', url: '', author: '', title: 'A page' } as const;
        try {
          await old.signal(SIGNALS.published, {
            deliveries: [{ id, source: 'test', receivedAt, dedupeMs: 86_400_000 }],
            newest: { ...event, id, at: receivedAt },
          });
          accepted.push(id);
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
          return;
        }
      }
    }
    const publishing = publishToOldName();
    await waitFor(() => accepted.length > 3, { describe: 'publishes arrive' });
    await rename(site, `renamed-${site.site}`);
    await publishing;
    const { deliveries } = await site.until('all are there', (state) =>
      accepted.every((id) => state.deliveries.some((each) => each.id === id)),
    );
    expect(deliveries.map(({ outcome }) => outcome)).not.toContain('duplicate');
  });

  it.concurrent('has every action on its rules that its old name accepted while it was renamed', async () => {
    const site = await startSite();
    await site.publish();
    await untilLive(site, 'v1');
    const names = [`renamed-${site.site}`, site.site];
    // Until an action has arrived after the state was handed over.
    for (let round = 0, isForwarded = false; !isForwarded; round++) {
      const [before, to = ''] = [site.handle, names[round % 2]];
      const act = async (number: number): Promise<string[]> => {
        const detail = `act-${round}-${number}`;
        try {
          await before.signal(SIGNALS.acted, { action: 'run-again', actor: 'ada', detail });
          return [detail];
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
          return [];
        }
      };
      site.renameInConfiguration(to);
      const update = await before.startUpdate('rename', { args: [to, {}], waitForStage: 'ACCEPTED' });
      const accepted = (await Promise.all(Array.from({ length: 8 }, (_, number) => act(number)))).flat();
      await update.result();
      await before.result();
      await site.until('all are listed', ({ actions }) =>
        accepted.every((id) => actions.filter(({ detail }) => detail === id).length === 1),
      );
      const { events } = await before.fetchHistory();
      isForwarded = (events ?? []).some(
        ({ signalExternalWorkflowExecutionInitiatedEventAttributes: sent }) => sent?.signalName === SIGNALS.acted,
      );
    }
  });
});

it('an old name is given up after 30 days', async () => {
  const { client } = server();
  const worker = await startSite();
  const workflowId = WORKFLOW_IDS.renamedSite(worker.site, 'a-run');
  const { taskQueue } = await started(worker);
  const handle = await client.workflow.start(renamedSite, { workflowId, taskQueue });
  closeLater({ workflowIds: () => [workflowId], close: async () => void (await handle.terminate().catch(() => {})) });
  const timer = async () => {
    const { events } = await handle.fetchHistory();
    return events?.find(({ timerStartedEventAttributes }) => timerStartedEventAttributes != null);
  };
  const { timerStartedEventAttributes } = await waitFor(timer, { describe: 'has its timer' });
  expect(Number(timerStartedEventAttributes?.startToFireTimeout?.seconds)).toBe(30 * 86_400);
});

async function started(site: SiteFixture) {
  await site.start();
  return await site.handle.describe();
}
