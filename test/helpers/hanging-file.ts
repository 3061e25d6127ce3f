import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { link, open, rm, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { waitFor } from './system/wait-for.ts';

export type HangingFile = {
  /** Lets every reader read an empty file, until something has replaced the path with a regular file. */
  letGo(): Promise<void>;
  /** Releases all hanging readers. Without it, the worker could not stop if a test failed before `letGo`. */
  end(): Promise<void>;
};

/** A file that blocks its readers, like a network file system without its server: a named pipe without a writer. */
export async function makeHangingFile(path: string): Promise<HangingFile> {
  const pipe = `${path}.pipe`;
  await promisify(execFile)('mkfifo', [pipe]);
  // The pipe's second name still works after the path was replaced.
  await link(pipe, path);

  /** Opens and closes a writer, so that readers see an empty file. */
  async function release(): Promise<void> {
    await (await open(pipe, constants.O_RDWR | constants.O_NONBLOCK)).close();
  }

  return {
    async letGo() {
      const isReplaced = async (): Promise<boolean> => {
        await release();
        return (await stat(path)).isFile();
      };
      await waitFor(isReplaced, { describe: 'replaced' });
      await release();
      await rm(pipe);
    },

    async end() {
      const isLeft = await stat(pipe).then(
        () => true,
        () => false,
      );
      if (!isLeft) return;
      if ((await stat(path)).isFIFO()) await rm(path);
      await release();
      await rm(pipe);
    },
  };
}
