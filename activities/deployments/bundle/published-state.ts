import { z } from 'zod';
import { writtenOrder } from '../write-order.ts';
import type { PublishedState } from './publish-files.ts';

const publishedState = writtenOrder.extend({
  complete: z.boolean(),
  files: z.record(z.string(), z.string()),
  retired: z.array(z.string()),
});

/** Null if it isn't one: then nothing is known of the place, and all files are written. */
export function parsePublishedState(text: string): PublishedState | null {
  try {
    return publishedState.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
