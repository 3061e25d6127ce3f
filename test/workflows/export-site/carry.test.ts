import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { createSeenDeliveries } from '../../../workflows/deliveries/seen-deliveries.ts';
import { fromCarry, MAX_CARRY_BYTES, toCarry } from '../../../workflows/export-site/carry.ts';
import { takeIn } from '../../../workflows/export-site/intake.ts';
import { freshMemory, type SiteMemory } from '../../../workflows/export-site/site-memory.ts';

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

/** As full as a site's memory can get: the longest texts, the most of everything. */
function fullMemory(): { memory: SiteMemory; seen: ReturnType<typeof createSeenDeliveries> } {
  const memory = freshMemory(NOW_MS);
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
    takeIn(memory, seen, { deliveries, newest }, { ms: NOW_MS, workflowId: 'export:docs' });
  }
  const jobId = 'j'.repeat(500);
  memory.jobs = Array.from({ length: 50 }, (_, index) => ({
    jobId,
    version: `${'v'.repeat(190)}${index}`,
    exportedAt: new Date(NOW_MS).toISOString(),
  }));
  memory.links = Array.from({ length: 100 }, () => ({
    jobId,
    expiresAt: null,
    obtainedAtMs: NOW_MS,
    lifetimeMs: 1,
    failures: 0,
    notBeforeMs: 0,
  }));
  memory.targets = Array.from({ length: 40 }, (_, index) => ({
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
  return { memory, seen };
}

describe('what a run hands to the next one', () => {
  it('is the same when it comes out', () => {
    const memory = { ...freshMemory(NOW_MS), paused: true, cycle: 7, sequence: 12 };
    const seen = createSeenDeliveries();
    seen.isResend({ id: 'a', source: 's', dedupeMs: 60_000 }, NOW_MS);
    const carried: unknown = JSON.parse(JSON.stringify(toCarry(memory, seen)));
    const restored = fromCarry(carried);
    expect(restored.memory).toEqual(memory);
    expect(restored.seen.isResend({ id: 'a', source: 's', dedupeMs: 60_000 }, NOW_MS + 5_000)).toBe(true);
  });

  it('is read also where an older release wrote it, which told no topics of deliveries', async () => {
    const file = 'test/replay/export-site/continued-as-new-while-exporting-0.1.json';
    const history = recorded.parse(JSON.parse(await readFile(file, 'utf8')));
    const [started] = history.events;
    const data = started?.workflowExecutionStartedEventAttributes?.input.payloads[0]?.data ?? '';
    const input: unknown = JSON.parse(Buffer.from(data, 'base64').toString());
    const { memory } = fromCarry(z.object({ carry: z.unknown() }).parse(input).carry);
    expect(memory.deliveries.length).toBeGreaterThan(0);
    expect(memory.deliveries.every(({ topic }) => topic === undefined)).toBe(true);
    expect(memory.exporting?.stage).toBe('polling');
  });

  const { memory, seen } = fullMemory();

  it('stays small however much a site has seen', () => {
    const carry = toCarry(memory, seen);
    expect(size(carry)).toBeLessThan(MAX_CARRY_BYTES);
    expect(carry.seen.reduce((sum, { entries }) => sum + entries.length / 13, 0)).toBe(20_000);
    expect(carry.pending?.count).toBe(25_000);
  });

  it('leaves the oldest deliveries behind before it grows too large', () => {
    const [target] = memory.targets;
    const targets = target ? Array.from({ length: 250 }, () => target) : [];
    const carry = toCarry({ ...memory, targets }, seen);
    expect(size(carry)).toBeLessThan(MAX_CARRY_BYTES);
    expect(carry.targets).toHaveLength(250);
    expect(carry.seen.length).toBeGreaterThan(0);
  });

  it.each([
    ['of a format that nobody knows', { ...toCarry(freshMemory(NOW_MS), createSeenDeliveries()), format: 2 }],
    ['without what it needs', { format: 1 }],
    ['that is no carry', 'hello'],
    [
      'cut within an id',
      { ...toCarry(freshMemory(NOW_MS), createSeenDeliveries()), seen: [{ hour: 1, entries: 'abc' }] },
    ],
  ])('is refused %s, so that no run starts from nothing by mistake', (_, carry) => {
    expect(() => fromCarry(carry)).toThrow();
  });
});
