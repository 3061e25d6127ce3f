import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../../embedded/cache-folder.ts';

export type Generator = 'docusaurus' | 'next' | 'starlight' | 'vitepress';

/** Each generator's command in `node_modules` and its output folder. */
const PROGRAMS = {
  docusaurus: { program: '@docusaurus/core/bin/docusaurus.mjs', output: 'build' },
  next: { program: 'next/dist/bin/next', output: 'out' },
  starlight: { program: 'astro/astro.js', output: 'dist' },
  vitepress: { program: 'vitepress/bin/vitepress.js', output: '.vitepress/dist' },
} as const satisfies Record<Generator, { program: string; output: string }>;

/**
 * Builds `test/fixtures/{generator}-site` in a new folder and returns the folder of the built files. `npm run
 * setup:system` installs the packages; VitePress is a dependency of the project. `cleanUrls`: VitePress's setting. The
 * other generators ignore it.
 */
export async function buildSite(
  folder: string,
  generator: Generator,
  { cleanUrls = false }: { cleanUrls?: boolean } = {},
): Promise<string> {
  const { program, output } = PROGRAMS[generator];
  const site = join(folder, 'site');
  const projectModules = join(process.cwd(), 'node_modules');
  const modules = generator === 'vitepress' ? projectModules : join(cacheFolder(), 'sites', generator, 'node_modules');
  if (!existsSync(join(modules, program))) throw new Error(`${modules} is missing. Run: npm run setup:system`);
  await mkdir(folder, { recursive: true });
  await cp(join(process.cwd(), `test/fixtures/${generator}-site`), site, { recursive: true });
  // Configuration and themes import packages by name, relative to the sources.
  await symlink(modules, join(folder, 'node_modules'));
  const nodeOptions = generator === 'starlight' ? ['--preserve-symlinks'] : [];
  await promisify(execFile)(process.execPath, [...nodeOptions, join(folder, 'node_modules', program), 'build'], {
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
