import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflows } from '../scripts/bundle-workflows.js';

/** Workflows that only integration and system tests use. */
const TEST_WORKFLOWS = {
  mail: 'test/activities/mails/send/mail-workflows',
  ask: 'test/activities/deployments/ask-workflows',
  restless: 'test/api/restless-workflows',
};

/** Bundles that no test runs from source. Each takes a second. */
const UNUSED = ['orchestrator-encrypted-traced', 'platform-traced', 'platform-encrypted-traced'];

/** Bundles that the fast tier doesn't run from source. */
const NOT_FAST = ['orchestrator-encrypted', 'platform-encrypted', ...Object.keys(TEST_WORKFLOWS)];

/** Everything that may end up in a bundle, and what bundles it. */
const INPUTS = ['activities', 'base', 'contract', 'forge', 'platform', 'programs', 'scripts', 'workflows'];
const INPUT_FILES = [
  'package-lock.json',
  'test/setup-fast.js',
  ...Object.values(TEST_WORKFLOWS).map((file) => `${file}.ts`),
];

/**
 * Runs once before the tests. Installs the Temporal dev server if the user's cache has none, and bundles the workflow
 * code into `.cache/workflow-bundles` (helpers/workflow-bundles.ts), so that no test file has to.
 */
export default async function setupFast() {
  await prepare(NOT_FAST);
}

/** Bundles nothing again if its inputs are as in the last run: bundling takes longer than many a test file. */
export async function prepare(skipped = []) {
  // A static import fails here: jest loads this file with `require`, which cannot read TypeScript.
  const { locateDevServer } = await import('../embedded/temporal/locate-dev-server.ts');
  await locateDevServer();
  const root = process.cwd();
  const outDir = join(root, '.cache', 'workflow-bundles');
  await mkdir(outDir, { recursive: true });
  const inputsFile = join(outDir, 'inputs.json');
  const hash = await hashOfInputs(root);
  const last = await readFile(inputsFile, 'utf8').then(JSON.parse, () => undefined);
  const made = last?.hash === hash ? last.made : [];
  const skip = [...UNUSED, ...skipped, ...made];
  const more = Object.fromEntries(Object.entries(TEST_WORKFLOWS).filter(([name]) => !skip.includes(name)));
  const names = await bundleWorkflows({ sourceRoot: root, extension: 'ts', outDir, more, skip });
  if (names.length > 0) await writeFile(inputsFile, JSON.stringify({ hash, made: [...made, ...names] }));
}

async function hashOfInputs(root) {
  const hash = createHash('sha256');
  const files = [...INPUT_FILES];
  for (const folder of INPUTS) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    const sources = entries.filter((entry) => entry.isFile() && /\.[cm]?[jt]sx?$/.test(entry.name));
    files.push(...sources.map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1)));
  }
  for (const file of files.sort())
    hash
      .update(`${file}\0`)
      .update(await readFile(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}
