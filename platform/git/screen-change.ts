import { extname } from 'node:path';
import { createBoundedThreads, WorkExceeded } from '../../base/bounded-threads.ts';
import { createGlob } from '../../base/glob.ts';
import type { Git } from '../../forge/git/git.ts';
import type { ChangedFile } from './changed-files.ts';
import type * as tasks from './screen-tasks.ts';

/** Screens an agent's change before it leaves the machine. */

type Change = {
  /** The bare repository with both states. */
  dir: string;
  files: readonly ChangedFile[];
  /** The project's patterns of files that agents may change; null: all but CI files and new executables. */
  paths: readonly string[] | null;
  /** Values that no change may contain. */
  secrets: readonly string[];
};

const MAX_FILE_MIB = 10;
const MAX_FILE_BYTES = MAX_FILE_MIB * 1024 * 1024;

/** Files that decide what runs elsewhere, with which rights. */
const CI_FILES =
  /^(?:\.(?:github\/(?:workflows|actions)|gitea\/workflows|forgejo\/workflows|circleci|buildkite|woodpecker)\/|(?:\.gitlab-ci|\.travis|\.drone|\.woodpecker|\.appveyor|appveyor|azure-pipelines|bitbucket-pipelines)[\w.-]*\.ya?ml$|Jenkinsfile$)/i;

const threads = createBoundedThreads<typeof tasks>({
  module: new URL(`./screen-tasks${extname(import.meta.url)}`, import.meta.url).href,
  limitMs: 30_000,
  memoryMiB: 512,
});

/** Why the change may not be pushed, as a sentence with the place; null if it may. `shown` makes a path printable. */
export async function screenChange(
  git: Git,
  { dir, files, paths, secrets }: Change,
  shown: (path: string) => string,
): Promise<string | null> {
  const submodule = files.find((file) => file.submodule);
  if (submodule !== undefined)
    return `The agent pointed ${shown(submodule.path)} at another repository's commit, which no agent may`;
  const globs = paths?.map((pattern) => ({ pattern, matches: createGlob(pattern) }));
  for (const file of files) {
    const refused = refusePath(file, globs);
    if (refused !== null) return `The agent ${file.newExecutable ? 'made' : 'changed'} ${shown(file.path)}${refused}`;
  }
  const blobs = files.flatMap(({ path, before, now }) => (now === null ? [] : [{ path, before, now }]));
  const sizes = await sizesOf(git, { dir, ids: blobs.map(({ now }) => now) });
  for (const { path, before, now } of blobs) {
    if ((sizes.get(now) ?? 0) > MAX_FILE_BYTES)
      return `The agent left ${shown(path)} with more than ${MAX_FILE_MIB} MiB, which no agent may`;
    const found = await findSecret(git, { dir, path, before, now, secrets });
    if (found !== null) return `The change was not pushed: ${shown(path)}${found}`;
  }
  return null;
}

type Globs = readonly { pattern: string; matches: (path: string) => boolean }[];

/** CI files need a pattern that begins with their own folder or name, and new executables their exact path. */
function refusePath({ path, newExecutable }: ChangedFile, globs: Globs | undefined): string | null {
  const isNamed = globs?.some(({ pattern }) => pattern === path) ?? false;
  if (newExecutable && !isNamed) return ' executable, which only --agent-paths with its exact path allows';
  const [top = ''] = path.split('/');
  const isOwnGlob = ({ pattern, matches }: Globs[number]): boolean => pattern.startsWith(top) && matches(path);
  if (CI_FILES.test(path) && !(globs?.some(isOwnGlob) ?? false))
    return ', which configures CI; only --agent-paths with its own folder or name allows that';
  if (globs === undefined || globs.some(({ matches }) => matches(path))) return null;
  return `, but agents of this project may only change ${globs.map(({ pattern }) => pattern).join(', ')}`;
}

async function sizesOf(git: Git, { dir, ids }: { dir: string; ids: readonly string[] }): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const format = '--batch-check=%(objectname) %(objectsize)';
  const { stdout } = await git(['cat-file', format], { dir, input: `${ids.join('\n')}\n` });
  return new Map(stdout.split('\n').map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]));
}

type Blob = { dir: string; path: string; before: string | null; now: string; secrets: readonly string[] };

/** The line and the kind of a secret that the file has gained; never the secret. */
async function findSecret(git: Git, { dir, path, before, now, secrets }: Blob): Promise<string | null> {
  const read = async (id: string): Promise<string> =>
    (await git(['cat-file', 'blob', id], { dir, maxOutputBytes: MAX_FILE_BYTES + 1 })).stdout;
  const text = await read(now);
  const search = async (old: string) =>
    await threads.run('findSecret', { path, now: text, before: old, secrets }, `${dir} ${now} ${old.length}`);
  try {
    const found = await search('');
    if (found === null) return null;
    const added = before === null ? found : await search(await read(before));
    return added && `:${added.line} has what looks like a secret (${added.kind})`;
  } catch (error) {
    if (!(error instanceof WorkExceeded)) throw error;
    return " can't be searched for secrets in time";
  }
}
