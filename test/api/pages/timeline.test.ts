import { stageWidths, timelineOf } from '../../../api/pages/timeline.ts';
import type { DeploymentStatus } from '../../../contract/site-state.ts';
import { ago, deployment, exportRecord, NOW, siteStatus } from './site-fixture.ts';

const nowMs = NOW.getTime();
const stagesOf = (...args: Parameters<typeof timelineOf>) =>
  timelineOf(...args)?.stages.map(({ name, status }) => `${name} ${status}`);

describe('the timeline of a site', () => {
  it('shows the newest export with the refreshes of its link, oldest first', () => {
    const timeline = timelineOf(siteStatus(), undefined, nowMs);
    expect(timeline).toMatchObject({ number: 12, end: null, error: null });
    expect(timeline?.stages.map(({ status }) => status)).toEqual(['ended', 'ended', 'ended', 'running']);
    expect(timeline?.refreshes.map(({ at }) => at)).toEqual([ago(600), ago(400), ago(120)]);
  });

  it('ends the served stage of an older export when the next one is deployed', () => {
    const timeline = timelineOf(siteStatus(), 11, nowMs);
    expect(timeline?.stages.at(-1)).toEqual({
      name: 'served',
      status: 'ended',
      fromMs: Date.parse(exportRecord(11).writtenAt ?? ''),
      toMs: Date.parse(exportRecord(12).servedAt ?? ''),
    });
    expect(timeline?.refreshes).toEqual([]);
  });

  it('shows the stage of a running export', () => {
    const running = exportRecord(13, { outcome: null, exportedAt: null, writtenAt: null, endedAt: null });
    const status = siteStatus({ phase: 'exporting', exports: [running, ...siteStatus().exports] });
    expect(stagesOf(status, undefined, nowMs)).toEqual([
      'quiet ended',
      'export running',
      'deploy waiting',
      'served waiting',
    ]);
  });

  it('shows the stage at which an export failed', () => {
    const failed = exportRecord(13, { outcome: 'failed', writtenAt: null, error: 'the disk is full' });
    const status = siteStatus({ phase: 'failed', exports: [failed] });
    expect(stagesOf(status, undefined, nowMs)).toEqual([
      'quiet ended',
      'export ended',
      'deploy failed',
      'served waiting',
    ]);
    expect(timelineOf(status, undefined, nowMs)).toMatchObject({ end: 'failed', error: 'the disk is full' });
  });

  it('shows whether a version is being deployed, or something keeps the deployments from it', () => {
    const waiting = exportRecord(13, { outcome: null, writtenAt: null, servedAt: null });
    const deployStage = (state: DeploymentStatus) => {
      const desired = { jobId: waiting.jobId, version: waiting.version, reason: 'newest' as const };
      const status = siteStatus({ exports: [waiting], deployments: [deployment(12, { state, desired })] });
      return stagesOf(status, undefined, nowMs)?.[2];
    };
    for (const state of ['writing', 'unknown', 'failed'] as const) expect(deployStage(state)).toBe('deploy running');
    for (const state of ['approval', 'waiting', 'locked'] as const) expect(deployStage(state)).toBe('deploy waiting');
  });

  it('ends the served stage of a version that was rolled back, and begins it anew for the one before', () => {
    const withdrawn = exportRecord(13, { servedAt: ago(500), rolledBackAt: ago(300), outcome: 'served' });
    const status = siteStatus({ exports: [withdrawn, ...siteStatus().exports] });
    const timeline = timelineOf(status, undefined, nowMs);
    const span = { name: 'served', fromMs: nowMs - 500_000, toMs: nowMs - 300_000 };
    expect(timeline).toMatchObject({ end: 'rolled-back', stages: [{}, {}, {}, { ...span, status: 'ended' }] });
    const before = timelineOf(status, 12, nowMs);
    const since = { name: 'served', status: 'running', fromMs: nowMs - 300_000, toMs: null };
    expect(before).toMatchObject({ end: null, stages: [{}, {}, {}, since] });
    expect(before?.refreshes.map(({ at }) => at)).toEqual([ago(120)]);
  });

  it('never shows a version as served that its deployment was not seen to serve', () => {
    const bad = exportRecord(13, { servedAt: null, rolledBackAt: ago(300), outcome: 'partly' });
    const status = siteStatus({ confirmed: true, exports: [bad, ...siteStatus().exports] });
    expect(stagesOf(status, undefined, nowMs)?.slice(2)).toEqual(['deploy failed', 'served waiting']);
  });

  it('shows the quiet period of waiting deliveries', () => {
    const [newest, ...older] = siteStatus().deliveries;
    const waiting = { ...newest, id: 'waits', source: 'hmac', outcome: 'started' as const, workflowId: 'w' };
    const deliveries = [
      { ...waiting, at: ago(2), exportNumber: null },
      { ...waiting, id: 'older', at: ago(4), exportNumber: null },
      ...older,
    ];
    const timeline = timelineOf(siteStatus({ phase: 'debouncing', deliveries }), undefined, nowMs);
    expect(timeline).toMatchObject({
      number: null,
      stages: [{ name: 'quiet', status: 'running', fromMs: nowMs - 4_000 }, {}, {}, {}],
    });
  });

  it('is undefined without exports, and for an unknown number', () => {
    expect(timelineOf(siteStatus({ exports: [] }), undefined, nowMs)).toBeUndefined();
    expect(timelineOf(siteStatus(), 99, nowMs)).toBeUndefined();
  });

  it('tolerates invalid times', () => {
    const strange = exportRecord(13, { requestedAt: 'yesterday', startedAt: ago(-100), exportedAt: ago(1e9) });
    const timeline = timelineOf(siteStatus({ exports: [strange] }), undefined, nowMs);
    const widths = stageWidths(timeline?.stages ?? [], nowMs);
    expect(widths.every((width) => width > 0.05)).toBe(true);
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeCloseTo(1);
  });
});
