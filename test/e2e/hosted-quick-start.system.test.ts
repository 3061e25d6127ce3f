import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOSTED_DOMAIN, type HostedApi, startDomainForm, startProjectForm } from '../helpers/admin-api/hosted-api.ts';
import { galley, type RunningGalley, startGalley } from '../helpers/galley.ts';
import { createCleanups } from '../helpers/system/cleanups.ts';
import { HOSTED_KEY } from '../helpers/system/seed-system.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const cleanups = createCleanups();
afterEach(cleanups.run);

const FREE_PORTS = { PORT: '0', DEPLOYMENT_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' };

/** The commands of the page's quick start, in order. */
async function commandsOf(page: string): Promise<string[]> {
  const [, section = ''] = /^## Quick start$(.*?)^## /ms.exec(await readFile(page, 'utf8')) ?? [];
  const blocks = [...section.matchAll(/^```sh$(.*?)^```$/gms)].map(([, block = '']) => block);
  const lines = blocks.flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'));
  return lines.map((line) => line.replace(/ # .*/, '').trim()).filter((line) => line !== '');
}

const FORMS: [string, () => Promise<HostedApi>][] = [
  ['project', startProjectForm],
  ['domain', startDomainForm],
];

test.each(FORMS)('the quick start of the page works with a service of form %s', async (form, startApi) => {
  const api = await startApi();
  cleanups.add(api.close);
  api.edit(1);
  const folder = await mkdtemp(join(tmpdir(), 'galley-hosted-'));
  cleanups.add(() => rm(folder, { recursive: true, force: true }));
  const variables = { ADMIN_API_KEY: HOSTED_KEY, ...FREE_PORTS };
  let up: RunningGalley | undefined;
  const printed: string[] = [];
  for (const command of await commandsOf('docs/guide/hosted-admin-api.md')) {
    if (command === 'galley up') {
      const started = await startGalley(['up'], variables, folder);
      cleanups.add(() => started.stop('SIGKILL'));
      up = started;
      continue;
    }
    // The reader's own key.
    if (command.startsWith('export ADMIN_API_KEY=')) continue;
    expect(command).toMatch(/^galley /);
    const own = form === 'project' ? command : command.replace(/ --project-id \S+/, '');
    const args = own
      .replace('https://api.example.com', api.url)
      .replace('docs.example.com', HOSTED_DOMAIN)
      .split(/\s+/)
      .slice(1);
    const finished = await galley(args, variables, folder);
    expect({ command, ...finished }).toMatchObject({ code: 0 });
    printed.push(finished.stdout);
    if (args[0] === 'webhook') await served(up, 'edition 1');
  }
  expect(printed.join('\n').replace(/\s+/g, ' ')).toContain(`it has form ${form} of static export`);
  expect(printed.at(-1)).toMatch(/^docs: live$/m);
  expect(api.starts()).toBe(1);
  expect((await up?.stop())?.code).toBe(0);
});

async function served(up: RunningGalley | undefined, text: string): Promise<void> {
  const [, deployment = ''] = / deployment (\S+)/.exec(up?.ready ?? '') ?? [];
  const isServed = async () => (await (await fetch(deployment)).text()).includes(text);
  await waitFor(isServed, { describe: `served ${text}` });
}
