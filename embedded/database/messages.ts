import { z } from 'zod';

/** What the database's thread is started with. */
export const threadData = z.object({ dataDir: z.string(), socketPath: z.string().nullable() });
export type ThreadData = z.infer<typeof threadData>;

/** What the thread sends. `port` is null if it listens on the socket path. */
export const threadMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('listening'), port: z.int().nullable() }),
  z.object({ type: z.literal('failed'), message: z.string() }),
  z.object({ type: z.literal('stopped') }),
]);
export type ThreadMessage = z.infer<typeof threadMessage>;

/** The only message to the thread. */
export const STOP = 'stop';
