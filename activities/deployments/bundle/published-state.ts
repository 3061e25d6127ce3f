import { z } from 'zod';
import type { PublishedState } from './publish-files.ts';

const publishedState = z.object({
  epoch: z.int(),
  sequence: z.int(),
  jobId: z.string(),
  version: z.string().nullable(),
  newestJobAt: z.string().nullable(),
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
