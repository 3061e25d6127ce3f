import { stageWidths, timelineOf } from '../../../api/pages/timeline.ts';
import { ago, exportRecord, NOW, siteStatus } from './site-fixture.ts';

const nowMs = NOW.getTime();
const stagesOf = (...args: Parameters<typeof timelineOf>) =>
  timelineOf(...args)?.stages.map(({ name, status }) => `${name} ${status}`);

describe('the timeline of a site', () => {
  it('shows the newest export with the refreshes of its link, oldest first', () => {
    const timeline = timelineOf(siteStatus(), undefined, nowMs);
    expect(timeline).toMatchObject({ number: 12, outcome: null, error: null });
    expect(timeline?.stages.map(({ status }) => status)).toEqual(['ended', 'ended', 'ended', 'running']);
    expect(timeline?.refreshes.map(({ at }) => at)).toEqual([ago(600), ago(400), ago(120)]);
  });

  it('ends the served stage of an older export when the next one is deployed', () => {
    const timeline = timelineOf(siteStatus(), 11, nowMs);
    expect(timeline?.stages.at(-1)).toEqual({
      name: 'served',
      status: 'ended',
      fromMs: Date.parse(exportRecord(11).deployedAt ?? ''),
      toMs: Date.parse(exportRecord(12).deployedAt ?? ''),
    });
    expect(timeline?.refreshes).toEqual([]);
  });

  it('shows the stage of a running export', () => {
    const running = exportRecord(13, { outcome: 'running', exportedAt: null, deployedAt: null, endedAt: null });
    const status = siteStatus({ phase: 'exporting', exports: [running, ...siteStatus().exports] });
    expect(stagesOf(status, undefined, nowMs)).toEqual([
      'quiet ended',
      'export running',
      'deploy waiting',
      'served waiting',
    ]);
  });

  it('shows the stage at which an export failed', () => {
    const failed = exportRecord(13, { outcome: 'failed', deployedAt: null, error: 'the disk is full' });
    const status = siteStatus({ phase: 'failed', exports: [failed] });
    expect(stagesOf(status, undefined, nowMs)).toEqual([
      'quiet ended',
      'export ended',
      'deploy failed',
      'served waiting',
    ]);
    expect(timelineOf(status, undefined, nowMs)).toMatchObject({ outcome: 'failed', error: 'the disk is full' });
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
