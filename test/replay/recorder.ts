import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { locateDevServer } from '../../embedded/temporal/locate-dev-server.ts';

// Every script that records histories takes these arguments: RELEASE [BRANCH] [FOLDER].
const [, , release, only, root = 'test/replay'] = process.argv;

const shown = z.object({
  events: z
    .array(
      z.object({
        workflowExecutionStartedEventAttributes: z
          .object({ continuedExecutionRunId: z.string().optional() })
          .optional(),
      }),
    )
    .min(1),
});

const run = promisify(execFile);

/** The branches still to be recorded. A file that exists is never written again: a changed workflow must replay it. */
export function unrecorded<Branch extends { name: string }>(branches: readonly Branch[], folderOf: FolderOf<Branch>) {
  if (release === undefined) throw new Error('Name the release, such as 0.1');
  return branches.filter(
    (branch) => (only ?? branch.name) === branch.name && !existsSync(fileOf(folderOf(branch), branch.name)),
  );
}
type FolderOf<Branch> = (branch: Branch) => string;

/** Writes the history of a workflow's newest run, and of each run that it continues. */
export async function record(folder: string, branch: string, workflowId: string, address: string): Promise<void> {
  await mkdir(join(root, folder), { recursive: true });
  let runId: string | undefined;
  for (let part = 0; part === 0 || runId; part++) {
    const which = ['--workflow-id', workflowId, '--address', address, ...(runId ? ['--run-id', runId] : [])];
    const show = ['workflow', 'show', '--output', 'json', ...which];
    const { stdout } = await run(await locateDevServer(), show, { maxBuffer: 64 * 1024 * 1024 });
    const history: unknown = JSON.parse(stdout);
    const { events } = shown.parse(history);
    const file = fileOf(folder, part === 0 ? branch : `${branch}-run-before-${part}`);
    await writeFile(file, historyText(history), { flag: 'wx' });
    console.log(`${file}: ${events.length} events`);
    runId = events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
  }
}

function fileOf(folder: string, name: string): string {
  return join(root, folder, `${name}-${release}.json`);
}

/** One line, and the stacks of failures name no folder of the machine that recorded it. */
function historyText(history: unknown): string {
  return `${JSON.stringify(history).replaceAll(`${process.cwd()}/`, '')}\n`;
}
