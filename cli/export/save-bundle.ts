import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { errorText } from '../../base/error-code.ts';
import { measure } from '../../base/sha256.ts';
import type { Bundle } from '../../client/admin-api-client.ts';
import { makeFolder } from '../../programs/process/make-folder.ts';
import { CommandError } from '../command-error.ts';

/** Timeout for the link's first byte; the rest may take longer. */
const ANSWER_TIMEOUT_MS = 30_000;

/**
 * Writes the archive to `file` atomically; resolves with its size in bytes.
 * @throws CommandError if the link is rejected, breaks off, or its bytes don't match the hash.
 */
export async function saveBundle(
  { bundleUrl, sha256 }: Bundle,
  { file, signal }: { file: string; signal: AbortSignal },
): Promise<number> {
  await makeFolder(dirname(file));
  const partial = `${file}.${process.pid}.part`;
  const measured = measure();
  try {
    const answer = new AbortController();
    const timer = setTimeout(() => answer.abort(), ANSWER_TIMEOUT_MS);
    const ended = AbortSignal.any([signal, answer.signal]);
    const response = await fetch(bundleUrl, { signal: ended }).finally(() => clearTimeout(timer));
    if (!response.ok || !response.body) throw new CommandError(`The bundle's link was answered ${response.status}`);
    await pipeline(response.body, measured.stream, createWriteStream(partial), { signal });
    const { sizeBytes, sha256: digest } = measured.result();
    if (sha256 && digest !== sha256)
      throw new CommandError(`The bundle has the sha256 ${digest}, but ${sha256} was promised`);
    await rename(partial, file);
    return sizeBytes;
  } catch (error) {
    await rm(partial, { force: true });
    if (error instanceof CommandError) throw error;
    throw new CommandError(`The bundle could not be fetched: ${errorText(error)}`);
  }
}
