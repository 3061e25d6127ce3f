import { z } from 'zod';

/** What the database's thread is started with. */
export const threadData = z.object({ dataDir: z.string(), socketPath: z.string().nullable() });
export type ThreadData = z.infer<typeof threadData>;

/** What is sent to the thread: the end, or a request to copy the database's files into a new folder. */
export const threadCommand = z.discriminatedUnion('type', [
  z.object({ type: z.literal('stop') }),
  z.object({ type: z.literal('copy'), folder: z.string() }),
]);
export type ThreadCommand = z.infer<typeof threadCommand>;

/** What the thread sends. `port` is null if it listens on the socket path. */
export const threadMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('listening'), port: z.int().nullable() }),
  z.object({ type: z.literal('failed'), message: z.string() }),
  z.object({ type: z.literal('copied') }),
  z.object({ type: z.literal('stopped') }),
]);
export type ThreadMessage = z.infer<typeof threadMessage>;
