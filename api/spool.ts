import { type FileHandle, open, rm } from 'node:fs/promises';

/** A file for the body of a large delivery, while it isn't known yet whether the delivery is to be kept. */
export type Spool = {
  /** Never rejects: a body that can't be written isn't kept. */
  write(chunk: Buffer): Promise<void>;
  /** Takes the whole file over. Resolves with its path; undefined if nothing was written, or not all. */
  claim(): Promise<string | undefined>;
  /** Removes the file unless it was claimed. */
  close(): void;
};

/** Creates the file with the first bytes, readable only by this user. */
export function createSpool(path: string): Spool {
  let file: FileHandle | undefined;
  let isBroken = false;
  let isClaimed = false;

  async function discard(): Promise<void> {
    await file?.close().catch(() => undefined);
    if (file !== undefined) await rm(path, { force: true }).catch(() => undefined);
  }

  return {
    async write(chunk) {
      if (isBroken) return;
      try {
        file ??= await open(path, 'wx', 0o600);
        await file.writeFile(chunk);
      } catch {
        isBroken = true;
      }
    },
    async claim() {
      if (file === undefined) return undefined;
      isClaimed = true;
      if (isBroken) {
        await discard();
        return undefined;
      }
      await file.close();
      return path;
    },
    close() {
      if (!isClaimed) void discard();
    },
  };
}
