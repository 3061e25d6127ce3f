import { z } from 'zod';
import { WORKFLOW_IDS } from '../../contract/names.ts';
import { siteState } from '../../contract/site-state.ts';
import { runWorker } from '../helpers/run-worker.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import type { TestTemporal } from '../helpers/temporal.ts';
import { OPERATOR_TOKEN, type RunningApi } from './running-api.ts';
import { type SitesFixture, startSites } from './sites-fixture.ts';

let sites: SitesFixture;
let temporal: TestTemporal;
let api: RunningApi;
let worker: { stop(): Promise<void> };

beforeAll(async () => {
  const site = {
    projectId: 'prj_docs',
    webhooks: { token: { secret: 'hush', filters: { event: 'publish' } } },
    // The long quiet period prevents a change during the tests.
    agent: [{ name: 'changelog', on: 'publish', prompt: 'Go.', reviewers: ['ada@example.com'], quietPeriod: '1h' }],
  };
  sites = await startSites({ docs: site, paused: site });
  ({ temporal, api } = sites);
  worker = runWorker(await sites.createWorker());
});

afterAll(async () => {
  await worker.stop();
  await sites.stop();
});

const { jobId, phase, deployments, deliveries, exports, actions } = siteState.shape;
const responseBody = z.object({ jobId, phase, deployments, deliveries, exports, actions }).partial().loose();

async function send(method: string, path: string, token = OPERATOR_TOKEN, body?: object, actor?: string) {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body && { 'content-type': 'application/json' }),
    ...(actor !== undefined && { 'x-galley-actor': actor }),
  };
  const response = await fetch(`${api.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, body: responseBody.parse(await response.json()) };
}

const stateOf = async (site: string) => (await send('GET', `/sites/${site}`)).body;

const untilPhase = (site: string, phase: string) =>
  waitFor(async () => (await stateOf(site)).phase === phase, { describe: `${site} is ${phase}` });

describe('an operator', () => {
  it('exports, refreshes, pauses and resumes a site', async () => {
    const none = {
      status: 409,
      body: { error: 'nothing was published yet, or not since the site was removed: export the site first' },
    };
    for (const action of ['refresh', 'pause', 'resume']) {
      expect(await send('POST', `/sites/paused/${action}`)).toEqual(none);
    }
    expect(await send('POST', '/sites/paused/export')).toMatchObject({ status: 200, body: { site: 'paused' } });
    await untilPhase('paused', 'live');
    const before = await stateOf('paused');
    const refreshed = await send('POST', '/sites/paused/refresh');
    expect(refreshed).toMatchObject({ status: 200, body: { phase: 'live', jobId: before.jobId } });
    const times = [before, refreshed.body].map(({ deployments }) => deployments?.[0]?.linkExpiresAt ?? '');
    expect(times.toSorted()).toEqual(times);
    expect(new Set(times).size).toBe(2);
    expect(await send('POST', '/sites/paused/pause')).toMatchObject({ status: 200, body: { phase: 'paused' } });
    const refused = { status: 409, body: { error: 'the site is paused: resume it first' } };
    expect(await send('POST', '/sites/paused/export')).toEqual(refused);
    expect(await send('POST', '/sites/paused/resume')).toMatchObject({ status: 200, body: { phase: 'live' } });
  });

  it('rolls a site back to an earlier version or job', async () => {
    const rollBack = (body: object, site = 'paused') => send('POST', `/sites/${site}/rollback`, OPERATOR_TOKEN, body);
    const first = await stateOf('paused');
    await send('POST', '/sites/paused/export');
    const isExported = async () => (await stateOf('paused')).jobId !== first.jobId;
    await waitFor(isExported, { describe: 'exported again' });
    await untilPhase('paused', 'live');
    const second = await stateOf('paused');
    expect(await rollBack({ version: first.version })).toMatchObject({
      status: 200,
      body: { jobId: first.jobId, version: first.version, withheld: { version: second.version } },
    });
    expect(await rollBack({ jobId: second.jobId })).toMatchObject({ status: 200, body: { jobId: second.jobId } });
    const unknown = await rollBack({ version: 'v99' });
    expect(unknown).toMatchObject({ status: 409, body: { error: expect.stringContaining('no version or job v99') } });
    expect(unknown.body.error).toContain(String(first.version));
    const wrong = [{}, { version: 1 }, { version: 'v1', jobId: 'se_1' }, { version: 'v1', lock: 'yes' }];
    for (const body of [...wrong, { version: 'v1', reason: 'x'.repeat(501) }]) {
      expect(await rollBack(body)).toMatchObject({ status: 400, body: { error: expect.stringContaining('jobId') } });
    }
    expect((await rollBack({ version: 'v1' }, 'unknown')).status).toBe(404);
  });

  it('locks a site, with a reason, and by a rollback', async () => {
    const reason = 'a release';
    const locked = await send('POST', '/sites/paused/lock', OPERATOR_TOKEN, { reason }, 'ada');
    const lock = { by: 'operator token: ada', at: expect.any(String), reason };
    expect(locked).toMatchObject({ status: 200, body: { phase: 'locked', lock } });
    const { jobId: before } = await stateOf('paused');
    await send('POST', '/sites/paused/export');
    const isHeldBack = async () => (await stateOf('paused')).exports?.[0]?.jobId !== before;
    await waitFor(isHeldBack, { describe: 'exported while it is locked' });
    await untilPhase('paused', 'locked');
    expect((await stateOf('paused')).deployments).toMatchObject([{ jobId: before, desired: { reason: 'locked' } }]);
    const unlocked = await send('POST', '/sites/paused/unlock');
    expect(unlocked).toMatchObject({ status: 200, body: { phase: 'live', lock: null } });
    expect(unlocked.body.jobId).not.toBe(before);
    expect((await send('POST', '/sites/paused/unlock')).status).toBe(409);

    const back = await send('POST', '/sites/paused/rollback', OPERATOR_TOKEN, { jobId: before, lock: true, reason });
    expect(back).toMatchObject({ status: 200, body: { jobId: before, lock: { reason } } });
    expect(await send('POST', '/sites/paused/unlock')).toMatchObject({ body: { jobId: unlocked.body.jobId } });
    for (const body of [{ reason: '' }, { reason: 'x'.repeat(501) }, { other: 1 }]) {
      expect((await send('POST', '/sites/paused/lock', OPERATOR_TOKEN, body)).status).toBe(400);
    }
    expect((await send('POST', '/sites/paused/approve', OPERATOR_TOKEN, { deployment: 'nothing' })).status).toBe(409);
    expect((await send('POST', '/sites/paused/approve', OPERATOR_TOKEN, { other: 'x' })).status).toBe(400);
  });

  it('removes a site with its rules, or one rule, and gets the last state', async () => {
    const { workflow } = temporal.client;
    const startRule = (rule: string) =>
      workflow.start('agentRule', {
        workflowId: WORKFLOW_IDS.agentRule('docs', rule),
        taskQueue: 'galley-orchestrator',
        args: [{ site: 'docs', rule }],
      });
    await send('POST', '/sites/docs/export');
    await untilPhase('docs', 'live');
    const first = await startRule('changelog');
    expect(await send('DELETE', '/sites/docs/agents/changelog')).toMatchObject({
      status: 200,
      body: { phase: 'idle' },
    });
    // A removal gets its response before the run has ended.
    await first.result();
    expect(await send('DELETE', '/sites/docs/agents/changelog')).toEqual({
      status: 404,
      body: { error: 'no such rule runs' },
    });

    // galley.yaml no longer has this rule, so only Temporal's list has it.
    const unconfigured = await startRule('old');
    const isListed = async () => {
      for await (const { runId } of workflow.list({ query: `WorkflowId = '${unconfigured.workflowId}'` }))
        if (runId === unconfigured.firstExecutionRunId) return true;
      return false;
    };
    await waitFor(isListed, { describe: 'listed the rule' });
    const configured = await startRule('changelog');
    expect(await send('DELETE', '/sites/docs')).toMatchObject({
      status: 200,
      body: { site: 'docs', phase: 'live', endedRules: ['changelog', 'old'] },
    });
    await Promise.all([unconfigured.result(), configured.result()]);
    await workflow.getHandle(WORKFLOW_IDS.exportSite('docs')).result();
    expect(await send('GET', '/sites/docs')).toMatchObject({ status: 200, body: { phase: 'idle', jobId: null } });

    // A removal that failed half way can be repeated.
    const left = await startRule('changelog');
    expect((await send('DELETE', '/sites/docs')).status).toBe(409);
    await left.result();
  });

  it('is recorded with each action, by the name that the client sent', async () => {
    const actionsOf = async () => (await stateOf('paused')).actions ?? [];
    const before = (await actionsOf()).length;
    const listed = await send('POST', '/sites/paused/pause', OPERATOR_TOKEN, undefined, 'ada');
    expect(listed).toMatchObject({ status: 200, body: { actions: [], exports: [] } });
    await send('POST', '/sites/paused/resume');
    await send('POST', '/sites/paused/rollback', OPERATOR_TOKEN, { version: 'v99' }, ` ${'x'.repeat(100)} `);
    const [rollback, resume, pause, ...others] = await actionsOf();
    expect(pause).toMatchObject({ actor: 'operator token: ada', action: 'pause', detail: null, error: null });
    expect(resume).toMatchObject({ actor: 'operator token', action: 'resume' });
    expect(rollback).toMatchObject({ actor: `operator token: ${'x'.repeat(100)}`, action: 'rollback', detail: 'v99' });
    expect(rollback?.error).toContain('no version or job v99');
    expect(others).toHaveLength(before);
    expect(others.map(({ action }) => action)).toEqual(expect.arrayContaining(['export', 'refresh', 'rollback']));
    for (const wrong of ['x'.repeat(101), 'Ren\u00e9', 'a\tb']) {
      expect(await send('POST', '/sites/paused/pause', OPERATOR_TOKEN, undefined, wrong)).toMatchObject({
        status: 400,
        body: { error: 'X-Galley-Actor: expected up to 100 printable ASCII characters' },
      });
    }
    expect(await actionsOf()).toHaveLength(before + 3);
  });

  it('runs a delivery again as an export, or as a prompt of a rule that is idle', async () => {
    const published = await fetch(`${api.url}/webhooks/paused/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer hush' },
      body: JSON.stringify({ event: 'publish', id: 'a/b c' }),
    });
    const { deliveryId } = z.object({ deliveryId: z.string() }).parse(await published.json());
    const path = `/sites/paused/deliveries/${encodeURIComponent(deliveryId)}/run-again`;
    const collected = async () => {
      const { deliveries = [], exports = [] } = await stateOf('paused');
      const number = deliveries.find(({ id }) => id === deliveryId)?.exportNumber;
      return exports.find((each) => each.number === number && each.outcome === 'written');
    };
    expect(await waitFor(collected, { describe: 'exported the delivery' })).toMatchObject({
      trigger: 'publish',
      publishCount: 1,
      writtenAt: expect.any(String),
    });
    const { exports: [last] = [] } = await stateOf('paused');
    expect(await send('POST', path, OPERATOR_TOKEN, undefined, 'ada')).toMatchObject({ status: 200 });
    const again = async () => {
      const { exports: [newest] = [] } = await stateOf('paused');
      return newest !== undefined && newest.number > (last?.number ?? 0) && newest.outcome === 'written' && newest;
    };
    expect(await waitFor(again, { describe: 'exported again' })).toMatchObject({
      trigger: 'request',
      author: 'operator token: ada',
    });
    expect((await stateOf('paused')).actions?.[0]).toMatchObject({ action: 'run-again', detail: deliveryId });

    const waits = { status: 409, body: { error: expect.stringContaining('wait to be prompted already') } };
    expect(await send('POST', path, OPERATOR_TOKEN, { rule: 'changelog' })).toEqual(waits);
    for (const body of [{ rule: '' }, { rule: 1 }, { other: 'x' }]) {
      expect((await send('POST', path, OPERATOR_TOKEN, body)).status).toBe(400);
    }
    expect(await send('POST', path, OPERATOR_TOKEN, { rule: "a'b" })).toMatchObject({ status: 409 });
    expect(await send('POST', '/sites/paused/deliveries/unknown/run-again')).toMatchObject({
      status: 404,
      body: { error: 'the site lists no delivery with this id' },
    });
    expect((await send('POST', path, 'wrong')).status).toBe(401);
  });

  it('gets 404 for an unknown site, and 401 without the token', async () => {
    for (const [method, path] of [
      ['POST', '/sites/unknown/export'],
      ['DELETE', '/sites/unknown'],
      ['DELETE', "/sites/a'b/agents/x"],
      ['DELETE', '/sites/unknown/agents/changelog'],
    ] as const) {
      expect((await send(method, path)).status).toBe(404);
      expect((await send(method, path, 'wrong')).status).toBe(401);
    }
  });
});
