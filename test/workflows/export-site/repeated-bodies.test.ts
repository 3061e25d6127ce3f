import type { PublishedSignal } from '../../../contract/publish-event.ts';
import { createSeenDeliveries } from '../../../workflows/deliveries/seen-deliveries.ts';
import { putBack } from '../../../workflows/export-site/debounce.ts';
import { takeIn } from '../../../workflows/export-site/intake.ts';
import { freshMemory, type SiteMemory, siteMemory } from '../../../workflows/export-site/site-memory.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 12);
const EVENT = { source: 'storyblok', topic: 'story.published', id: '1', title: 'Home', url: '', author: '', at: '' };

/** A delivery of a vendor that sends no id, known by the hash of its body. */
function signal(...bodies: string[]): PublishedSignal {
  const receivedAt = new Date(NOW_MS).toISOString();
  return {
    deliveries: bodies.map((body) => ({
      ...{ id: `sha256:${body}`, source: 'storyblok', receivedAt, dedupeMs: 0 },
      byBody: true,
    })),
    newest: { ...EVENT, action: 'publish' },
  };
}

let memory: SiteMemory;
const seen = createSeenDeliveries();

function deliver(...bodies: string[]): string[] {
  takeIn(memory, seen, signal(...bodies), { ms: NOW_MS, workflowId: 'export:docs' });
  return memory.deliveries
    .slice(0, bodies.length)
    .map(({ outcome }) => outcome)
    .reverse();
}

beforeEach(() => {
  memory = freshMemory(NOW_MS);
});

describe('a body that repeats, from a vendor without delivery ids', () => {
  test('is a resend while the first one waits, also within one signal', () => {
    expect(deliver('a', 'a', 'b')).toEqual(['started', 'duplicate', 'coalesced']);
    expect(deliver('a')).toEqual(['duplicate']);
    expect(memory.pending).toMatchObject({ count: 2 });
  });

  test('is a new publish as soon as an export has begun with the first one', () => {
    deliver('a');
    memory.pending = null;
    expect(deliver('a')).toEqual(['started']);
    expect(memory.pending).toMatchObject({ count: 1 });
  });

  test('is a resend again if that export failed and its publishes wait once more', () => {
    deliver('a');
    const unfinished = memory.pending;
    if (unfinished === null) throw new Error('nothing waits');
    memory.pending = null;
    deliver('b');
    memory.pending = putBack(unfinished, memory.pending);
    expect(deliver('a', 'b', 'c')).toEqual(['duplicate', 'duplicate', 'coalesced']);
  });

  test('is remembered across continue-as-new', () => {
    deliver('a');
    const restored = siteMemory.parse({ ...JSON.parse(JSON.stringify(memory)), seen: [] });
    memory = restored;
    expect(deliver('a')).toEqual(['duplicate']);
  });
});
