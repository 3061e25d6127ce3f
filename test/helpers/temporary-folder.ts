import { mkdtempSync, realpathSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FORCED = { recursive: true, force: true, maxRetries: 3 };

/** A folder for the tests of the current scope, without links in its path. It is removed after them. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'galley-test-'));
  afterAll(() => rm(folder, FORCED));
  return folder;
}

/** The same, emptied after each test. */
export function emptiedFolder(): string {
  const folder = temporaryFolder();
  afterEach(async () => {
    for (const name of await readdir(folder)) await rm(join(folder, name), FORCED);
  });
  return folder;
}
