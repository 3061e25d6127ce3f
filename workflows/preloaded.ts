import { z } from 'zod';

/**
 * What all workflows of a worker share: otherwise each has a copy of its own. The SDK freezes it, so it must hold no state,
 * and what zod finds out at its first use has to be known before.
 */
z.object({ text: z.string() }).parse({ text: '' });
