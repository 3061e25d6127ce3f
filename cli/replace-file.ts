import { chmod, rename, writeFile } from 'node:fs/promises';

/** Writes the file at once, with these permissions from the start: a secret is never readable by others, not even for a moment. */
export async function replaceFile(file: string, text: string, mode = 0o600): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, text, { mode });
  await chmod(temporary, mode);
  await rename(temporary, file);
}
