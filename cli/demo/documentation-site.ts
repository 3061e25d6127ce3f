import { spawn } from 'node:child_process';
import { appendFile, cp, readdir, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CommandError } from '../command-error.ts';

/** A copy of this project's documentation: VitePress sources that the demo edits, and their build. */
export interface DocumentationSite {
  /** The folder that the origin serves. */
  builtFolder: string;
  /** The URL path of the edited page. */
  page: string;
  /** Adds a paragraph to that page and builds again. */
  edit(paragraph: string): Promise<void>;
}

const LEFT_BEHIND = new Set(['dist', 'cache', 'node_modules']);

/** Copies `docs/` of the checkout under `folder` and builds it. */
export async function createDocumentationSite(root: string, folder: string): Promise<DocumentationSite> {
  const sources = join(folder, 'docs');
  await cp(join(root, 'docs'), sources, {
    recursive: true,
    filter: (source) => !LEFT_BEHIND.has(basename(source)),
  });
  // VitePress looks for itself and its theme in the parent folders.
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  const file = await pageToEdit(sources);
  await build(root, sources);
  return {
    builtFolder: join(sources, '.vitepress', 'dist'),
    page: `/${file.replace(/\.md$/, '')}`,
    edit: async (paragraph) => {
      await appendFile(join(sources, file), `\n\n${paragraph}\n`);
      await build(root, sources);
    },
  };
}

async function pageToEdit(sources: string): Promise<string> {
  const pages = (await readdir(sources)).filter((name) => name.endsWith('.md') && name !== 'index.md').sort();
  const [first] = pages;
  if (first === undefined) throw new CommandError(`${sources} has no page beside index.md that the demo could edit`);
  return first;
}

/** Builds in a separate process: a build uses a processor for seconds, and the workers must not stop. */
async function build(root: string, sources: string): Promise<void> {
  const program = join(root, 'node_modules', 'vitepress', 'bin', 'vitepress.js');
  const child = spawn(process.execPath, [program, 'build', sources], {
    // For files outside its working folder, VitePress's content loader walks the whole disk, and hangs at a link.
    cwd: sources,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new CommandError(`VitePress could not build the documentation: ${output.slice(-1_000)}`);
}
