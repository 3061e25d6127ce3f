import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** The checkout's folder: one above the source, two above the build. */
export function packageRoot(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) throw new Error('package.json not found above the program');
  }
}

/** This release's version from package.json. */
export function packageVersion(): string {
  return z.object({ version: z.string() }).parse(readPackage()).version;
}

/** The oldest Node.js that this release runs on, such as `20.19`. */
export function oldestNode(): string {
  return z
    .object({ engines: z.object({ node: z.string() }) })
    .parse(readPackage())
    .engines.node.replace(/^>=/, '');
}

function readPackage(): unknown {
  return JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
}
