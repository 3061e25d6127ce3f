// Records a history of each branch of agentJob under test/replay/agent-job/, for this release:
//   node --import ./scripts/typescript.js test/replay/record-agent-job.ts 0.1
// It takes the workflow bundle that the last `npm test` made. Recorded files are never written again: a changed workflow
// must still replay them.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { locateDevServer } from '../../embedded/temporal/locate-dev-server.ts';
import { type AgentRepository, createAgentRepository } from '../helpers/agent-repository.ts';
import { type AgentRig, startAgentRig } from '../helpers/agent-rig.ts';
import { createDatabase } from '../helpers/test-database.ts';
import { historyText } from './history-text.ts';

const release = process.argv[2];
if (release === undefined) throw new Error('Name the release, such as 0.1');

/** Plays a branch and returns the id of the job whose last run shows it. */
type Branch = { name: string; play: (rig: AgentRig, repository: AgentRepository) => Promise<string> };

const branches: Branch[] = [
  {
    name: 'completed-with-a-pull-request',
    play: async (rig, { url }) => (await rig.run({ repository: url, prompt: 'write a.txt 1' })).id,
  },
  {
    name: 'unchanged',
    play: async (rig, { url }) => (await rig.run({ repository: url, prompt: 'print nothing to do' })).id,
  },
  {
    name: 'failed-in-the-agent',
    play: async (rig, { url }) => (await rig.run({ repository: url, prompt: 'print no\nfail' })).id,
  },
  {
    name: 'failed-before-the-agent',
    play: async (rig, { url }) => (await rig.run({ repository: url, ref: 'nowhere', prompt: 'write a.txt 1' })).id,
  },
  {
    name: 'failed-at-the-push',
    play: async (rig, { url, commit }) => {
      const { id, branch } = await rig.run({ repository: url, prompt: 'write a.txt 1' });
      const running = rig.message(id, 'pause 2000\nwrite b.txt 2');
      while (rig.runner.tasks.at(-1)?.run !== 2) await sleep(20);
      await commit(branch, { 'theirs.txt': 'theirs\n' });
      return (await running).id;
    },
  },
  {
    name: 'cancelled-while-the-agent-works',
    play: async (rig, { url }) => {
      const { id } = await rig.add({ repository: url, prompt: 'wait' });
      await rig.start(id);
      while (rig.runner.tasks.at(-1)?.jobId !== id) await sleep(20);
      await rig.cancel(id);
      await rig.end(id);
      return id;
    },
  },
  {
    name: 'cancel-accepted-without-the-workflow',
    play: async (rig, { url }) => {
      const { id } = await rig.add({ repository: url, prompt: 'wait' });
      await rig.start(id);
      while (rig.runner.tasks.at(-1)?.jobId !== id) await sleep(20);
      await rig.cancel(id, { workflow: false });
      await rig.end(id);
      return id;
    },
  },
  {
    name: 'over-before-it-began',
    play: async (rig, { url }) => {
      const { id } = await rig.run({ repository: url, prompt: 'write a.txt 1' });
      await rig.start(id);
      await rig.end(id);
      return id;
    },
  },
  {
    name: 'follow-up',
    play: async (rig, { url }) => {
      const { id } = await rig.run({ repository: url, prompt: 'write a.txt 1' });
      return (await rig.message(id, 'write b.txt 2')).id;
    },
  },
  {
    name: 'follow-up-that-changes-nothing',
    play: async (rig, { url }) => {
      const { id } = await rig.run({ repository: url, prompt: 'write a.txt 1' });
      return (await rig.message(id, 'thank you')).id;
    },
  },
];

const run = promisify(execFile);
const temporal = await locateDevServer();
const rig = await startAgentRig(await createDatabase());
await rig.startWorker();
await mkdir('test/replay/agent-job', { recursive: true });
for (const { name, play } of branches) {
  const repository = await createAgentRepository();
  const jobId = await play(rig, repository);
  const show = ['workflow', 'show', '--workflow-id', jobId, '--output', 'json', '--address', rig.temporal.address];
  const { stdout } = await run(temporal, show, { maxBuffer: 64 * 1024 * 1024 });
  const history: { events: unknown[] } = JSON.parse(stdout);
  const file = `test/replay/agent-job/${name}-${release}.json`;
  await writeFile(file, historyText(history), { flag: 'wx' });
  console.log(`${file}: ${history.events.length} events`);
  await repository.remove();
}
await rig.stop();
process.exit(0);
