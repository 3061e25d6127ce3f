import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { link, open, rm, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { waitFor } from './system/wait-for.ts';

export type HangingFile = {
  /** Lets every reader read an empty file, until something has replaced the path by an ordinary file. */
  letGo(): Promise<void>;
  /** Ends whatever still hangs, for a test that failed before `letGo`: its worker could not stop otherwise. */
  end(): Promise<void>;
};

/** A file that hangs its readers, as on a file system whose server is away: a named pipe that nobody writes to. */
export async function makeHangingFile(path: string): Promise<HangingFile> {
  const pipe = `${path}.pipe`;
  await promisify(execFile)('mkfifo', [pipe]);
  // The pipe can be reached by its own name after the path was replaced.
  await link(pipe, path);

  /** A writer that comes and goes: readers see the end of an empty file. */
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
