import type { PublishedSignal } from '../../contract/publish-event.ts';

/** The signal that the receiver sends for one delivery. */
export function oneDelivery(id: string, index: number): PublishedSignal {
  const at = new Date().toISOString();
  return {
    deliveries: [{ id, source: 'standard', receivedAt: at, dedupeMs: 86_400_000 }],
    newest: {
      source: 'standard',
      topic: 'entry.published',
      action: 'publish',
      id: `entry-${index}`,
      title: `Getting started, edition ${index}`,
      url: `https://docs.example.com/guides/getting-started?edition=${index}`,
      author: 'Ada Lovelace',
      at,
    },
  };
}
