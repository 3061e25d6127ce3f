import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../../embedded/cache-folder.ts';

export type Generator = 'docusaurus' | 'next' | 'starlight' | 'vitepress';

/** By generator: its command line in `node_modules`, and where the built files lie. */
const PROGRAMS = {
  docusaurus: { program: '@docusaurus/core/bin/docusaurus.mjs', output: 'build' },
  next: { program: 'next/dist/bin/next', output: 'out' },
  starlight: { program: 'astro/astro.js', output: 'dist' },
  vitepress: { program: 'vitepress/bin/vitepress.js', output: '.vitepress/dist' },
} as const satisfies Record<Generator, { program: string; output: string }>;

/**
 * Builds `test/fixtures/{generator}-site` in a folder that it makes; returns the folder of the built files. The
 * packages are installed by `npm run setup:system`, VitePress comes with the project. `cleanUrls`: VitePress's setting
 * of that name; the others know one kind of address.
 */
export async function buildSite(
  folder: string,
  generator: Generator,
  { cleanUrls = false }: { cleanUrls?: boolean } = {},
): Promise<string> {
  const { program, output } = PROGRAMS[generator];
  const site = join(folder, 'site');
  const ofProject = join(process.cwd(), 'node_modules');
  const modules = generator === 'vitepress' ? ofProject : join(cacheFolder(), 'sites', generator, 'node_modules');
  if (!existsSync(join(modules, program))) throw new Error(`${modules} is missing. Run: npm run setup:system`);
  await mkdir(folder, { recursive: true });
  await cp(join(process.cwd(), `test/fixtures/${generator}-site`), site, { recursive: true });
  // Configuration and themes are imported by package name from where the sources lie.
  await symlink(modules, join(folder, 'node_modules'));
  const seenFromHere = generator === 'starlight' ? ['--preserve-symlinks'] : [];
  await promisify(execFile)(process.execPath, [...seenFromHere, join(folder, 'node_modules', program), 'build'], {
    env: {
      ...process.env,
      NODE_ENV: 'production',
      NODE_OPTIONS: '',
      ASTRO_TELEMETRY_DISABLED: '1',
      NEXT_TELEMETRY_DISABLED: '1',
      GALLEY_TEST_CLEAN_URLS: String(cleanUrls),
    },
    cwd: site,
    maxBuffer: 64 * 1024 * 1024,
  });
  return join(site, output);
}
