import type { PublishedSignal } from '../../../contract/publish-event.ts';
import { createSeenDeliveries } from '../../../workflows/deliveries/seen-deliveries.ts';
import { putBack } from '../../../workflows/export-site/schedule.ts';
import { type MutableState, newState, restoreState, serializeState } from '../../../workflows/export-site/state.ts';
import { applyDeliveries } from '../../../workflows/export-site/transitions.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 12);
const EVENT = { source: 'storyblok', topic: 'story.published', id: '1', title: 'Home', url: '', author: '', at: '' };

/** Deliveries of a vendor without delivery ids, identified by the hash of the body. */
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

let state: MutableState;
const seen = createSeenDeliveries();

function deliver(...bodies: string[]): string[] {
  applyDeliveries(state, seen, signal(...bodies), NOW_MS);
  return state.histories.deliveries
    .slice(0, bodies.length)
    .map(({ outcome }) => outcome)
    .reverse();
}

beforeEach(() => {
  state = newState(NOW_MS);
});

describe('a body that repeats, from a vendor without delivery ids', () => {
  test('is a resend while the first one waits, also within one signal', () => {
    expect(deliver('a', 'a', 'b')).toEqual(['started', 'duplicate', 'coalesced']);
    expect(deliver('a')).toEqual(['duplicate']);
    expect(state.pending).toMatchObject({ count: 2 });
  });

  test('is a new publish once an export with the first one has started', () => {
    deliver('a');
    state.pending = null;
    expect(deliver('a')).toEqual(['started']);
    expect(state.pending).toMatchObject({ count: 1 });
  });

  test('is a resend again if that export failed and its publishes wait again', () => {
    deliver('a');
    const unfinished = state.pending;
    if (unfinished === null) throw new Error('No publish waits');
    state.pending = null;
    deliver('b');
    state.pending = putBack(unfinished, state.pending);
    expect(deliver('a', 'b', 'c')).toEqual(['duplicate', 'duplicate', 'coalesced']);
  });

  test('is remembered across continue-as-new', () => {
    deliver('a');
    state = restoreState(JSON.parse(JSON.stringify(serializeState(state, seen)))).state;
    expect(deliver('a')).toEqual(['duplicate']);
  });
});
