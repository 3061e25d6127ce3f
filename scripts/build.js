// Builds dist/ beside the old one and swaps them, so that a running Galley keeps its files until the new ones are complete
// and files of older builds don't stay. Does nothing if dist/ was built from the same sources.
//   node scripts/build.js [--force]
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const STAMP = '.sources';

/** What tsc doesn't write, but the product reads: migrations, the pages' assets, the failure converter. */
const OTHER_FILES = [
  'platform/store/migrations/',
  'ui/assets/',
  'exporter/search/assets/',
  'programs/temporal/encrypted-failures.cjs',
];

/** A hash of all that a build depends on. */
function hashSources() {
  const hash = createHash('sha256');
  const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8'));
  const files = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
  for (const folder of [...include, 'scripts']) {
    const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
    for (const entry of entries) if (entry.isFile()) files.push(join(entry.parentPath, entry.name).slice(root.length));
  }
  for (const file of files.sort()) {
    const path = join(root, file);
    if (existsSync(path)) hash.update(`${file}\0`).update(readFileSync(path));
  }
  return hash.digest('hex');
}

function stampOf(folder) {
  const path = join(folder, STAMP);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function build(sources) {
  const made = join(root, `.dist-${process.pid}`);
  const node = (...args) => execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  try {
    node(join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json', '--outDir', made);
    for (const path of OTHER_FILES) cpSync(join(root, path), join(made, path), { recursive: true });
    node('scripts/bundle-command-line.js', made);
    node('scripts/bundle-workflows.js', made);
    chmodSync(join(made, 'cli/main.js'), 0o755);
    writeFileSync(join(made, STAMP), sources);
    swap(made);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** Only between two renames there is no dist/. */
function swap(made) {
  const old = join(root, `.dist-${process.pid}-old`);
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(made, dist);
  rmSync(old, { recursive: true, force: true });
}

const sources = hashSources();
if (process.argv.includes('--force') || stampOf(dist) !== sources) {
  console.error('[galley] building, which takes about 20 seconds');
  build(sources);
}
