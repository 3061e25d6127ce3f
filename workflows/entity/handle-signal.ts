import { log, type SignalDefinition, setHandler } from '@temporalio/workflow';
import type { z } from 'zod';

/**
 * Handles a signal whose payload matches the schema, and ignores any other payload with a warning: throwing would block
 * the workflow, because anyone may send a malformed signal.
 * @param description what the signal does, as the Temporal UI shows it
 */
export function handleSignal<T>(
  definition: SignalDefinition<[T]>,
  schema: z.ZodType<T>,
  description: string,
  handler: (payload: T) => void,
): void {
  const handle = (payload: unknown): void => {
    const parsed = schema.safeParse(payload);
    if (parsed.success) handler(parsed.data);
    else log.warn(`a signal "${definition.name}" of another shape was ignored`);
  };
  setHandler(definition, handle, { description });
}
