import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { createSeenDeliveries } from '../../../workflows/deliveries/seen-deliveries.ts';
import { MAX_INPUT_BYTES } from '../../../workflows/entity/continue-as-new.ts';
import { type MutableState, newState, restoreState, serializeState } from '../../../workflows/export-site/state.ts';
import { applyDeliveries } from '../../../workflows/export-site/transitions.ts';

const payloads = z.object({ payloads: z.array(z.object({ data: z.string() })) });
const recorded = z.object({
  events: z.array(
    z.object({ workflowExecutionStartedEventAttributes: z.object({ input: payloads }).optional() }).optional(),
  ),
});

const NOW_MS = Date.UTC(2026, 10, 21, 12);

function size(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** As full as a site's state can get: the longest texts, the most of everything. */
function fullState(): { state: MutableState; seen: ReturnType<typeof createSeenDeliveries> } {
  const state = newState(NOW_MS);
  const seen = createSeenDeliveries();
  const long = 'ß€'.repeat(5_000);
  for (let round = 0; round < 25; round++) {
    const deliveries = Array.from({ length: 1_000 }, (_, index) => {
      return {
        id: `${round}-${index}-${'ß€'.repeat(100)}`,
        source: 'contentful',
        receivedAt: new Date(NOW_MS).toISOString(),
        dedupeMs: 1,
      };
    });
    const newest = {
      source: long,
      topic: long,
      action: 'publish',
      id: long,
      title: long,
      url: long,
      author: long,
      at: long,
    } as const;
    applyDeliveries(state, seen, { deliveries, newest }, { ms: NOW_MS, workflowId: 'export:docs' });
  }
  const jobId = 'j'.repeat(500);
  state.jobs = Array.from({ length: 50 }, (_, index) => ({
    jobId,
    version: `${'v'.repeat(190)}${index}`,
    exportedAt: new Date(NOW_MS).toISOString(),
  }));
  state.links = Array.from({ length: 100 }, () => ({
    jobId,
    expiresAt: null,
    obtainedAtMs: NOW_MS,
    lifetimeMs: 1,
    failures: 0,
    notBeforeMs: 0,
  }));
  state.targets = Array.from({ length: 40 }, (_, index) => ({
    valuesFile: `/srv/${'f'.repeat(200)}/${index}.yaml`,
    jobId,
    version: 'v1',
    updatedAt: null,
    pin: null,
    held: false,
    off: false,
    searchedPin: null,
    searchAgainAtMs: null,
    error: 'e'.repeat(500),
    failedAt: null,
    failures: 1,
    retryAtMs: NOW_MS,
  }));
  return { state, seen };
}

describe('the continue-as-new input of a site', () => {
  it('is restored unchanged', () => {
    const state = { ...newState(NOW_MS), paused: true, cycle: 7, sequence: 12 };
    const seen = createSeenDeliveries();
    seen.isResend({ id: 'a', source: 's', dedupeMs: 60_000 }, NOW_MS);
    const input: unknown = JSON.parse(JSON.stringify(serializeState(state, seen)));
    const restored = restoreState(input);
    expect(restored.state).toEqual(state);
    expect(restored.seen.isResend({ id: 'a', source: 's', dedupeMs: 60_000 }, NOW_MS + 5_000)).toBe(true);
  });

  it('of an older release, without topics of deliveries, is restored', async () => {
    const file = 'test/replay/export-site/continued-as-new-while-exporting-0.1.json';
    const history = recorded.parse(JSON.parse(await readFile(file, 'utf8')));
    const [started] = history.events;
    const data = started?.workflowExecutionStartedEventAttributes?.input.payloads[0]?.data ?? '';
    const input: unknown = JSON.parse(Buffer.from(data, 'base64').toString());
    const { state } = restoreState(z.object({ carry: z.unknown() }).parse(input).carry);
    expect(state.deliveries.length).toBeGreaterThan(0);
    expect(state.deliveries.every(({ topic }) => topic === undefined)).toBe(true);
    expect(state.exporting?.stage).toBe('polling');
  });

  const { state, seen } = fullState();

  it('is small, whatever a site has seen', () => {
    const input = serializeState(state, seen);
    expect(size(input)).toBeLessThan(MAX_INPUT_BYTES);
    expect(input.seen.reduce((sum, { entries }) => sum + entries.length / 13, 0)).toBe(20_000);
    expect(input.pending?.count).toBe(25_000);
  });

  it('drops the oldest deliveries if it would be too large', () => {
    const [target] = state.targets;
    const targets = target ? Array.from({ length: 250 }, () => target) : [];
    const input = serializeState({ ...state, targets }, seen);
    expect(size(input)).toBeLessThan(MAX_INPUT_BYTES);
    expect(input.targets).toHaveLength(250);
    expect(input.seen.length).toBeGreaterThan(0);
  });

  it.each([
    ['with an unknown format', { ...serializeState(newState(NOW_MS), createSeenDeliveries()), format: 2 }],
    ['with missing fields', { format: 1 }],
    ['that is no object', 'hello'],
    [
      'with a cut id',
      { ...serializeState(newState(NOW_MS), createSeenDeliveries()), seen: [{ hour: 1, entries: 'abc' }] },
    ],
  ])('is rejected %s, so that no site starts over by mistake', (_, input) => {
    expect(() => restoreState(input)).toThrow();
  });
});
