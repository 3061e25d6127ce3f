// Records a history of each branch of agentJob under test/replay/agent-job/, for this release:
//   node --import ./scripts/typescript.js test/replay/record-agent-job.ts 0.1 [BRANCH] [FOLDER]
// It takes the workflow bundle that the last `npm test` made, and needs PostgreSQL.
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentRepository, createAgentRepository } from '../helpers/agent-repository.ts';
import { type AgentRig, startAgentRig } from '../helpers/agent-rig.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { startDevServer } from '../helpers/temporal.ts';
import { record, unrecorded } from './recorder.ts';

/** Plays a branch and returns the id of the job whose last run shows it. */
type Play = (rig: AgentRig, repository: AgentRepository) => Promise<string>;

const branches: { name: string; play: Play }[] = [];

function branch(name: string, play: Play): void {
  branches.push({ name, play });
}

branch(
  'completed-with-a-pull-request',
  async (rig, { url }) => (await rig.run({ repository: url, prompt: 'write a.txt 1' })).id,
);

branch('unchanged', async (rig, { url }) => (await rig.run({ repository: url, prompt: 'print nothing to do' })).id);

branch(
  'failed-in-the-agent',
  async (rig, { url }) => (await rig.run({ repository: url, prompt: 'print no\nfail' })).id,
);

branch(
  'failed-before-the-agent',
  async (rig, { url }) => (await rig.run({ repository: url, ref: 'nowhere', prompt: 'write a.txt 1' })).id,
);

branch('failed-at-the-push', async (rig, { url, commit }) => {
  const { id, branch } = await rig.run({ repository: url, prompt: 'write a.txt 1' });
  const running = rig.message(id, 'pause 2000\nwrite b.txt 2');
  while (rig.runner.tasks.at(-1)?.run !== 2) await sleep(20);
  await commit(branch, { 'theirs.txt': 'theirs\n' });
  return (await running).id;
});

branch('cancelled-while-the-agent-works', async (rig, { url }) => {
  const { id } = await rig.add({ repository: url, prompt: 'wait' });
  await rig.start(id);
  while (rig.runner.tasks.at(-1)?.jobId !== id) await sleep(20);
  await rig.cancel(id);
  await rig.end(id);
  return id;
});

branch('cancel-accepted-without-the-workflow', async (rig, { url }) => {
  const { id } = await rig.add({ repository: url, prompt: 'wait' });
  await rig.start(id);
  while (rig.runner.tasks.at(-1)?.jobId !== id) await sleep(20);
  await rig.cancel(id, { workflow: false });
  await rig.end(id);
  return id;
});

branch('over-before-it-began', async (rig, { url }) => {
  const { id } = await rig.run({ repository: url, prompt: 'write a.txt 1' });
  await rig.start(id);
  await rig.end(id);
  return id;
});

branch('follow-up', async (rig, { url }) => {
  const { id } = await rig.run({ repository: url, prompt: 'write a.txt 1' });
  return (await rig.message(id, 'write b.txt 2')).id;
});

branch('follow-up-that-changes-nothing', async (rig, { url }) => {
  const { id } = await rig.run({ repository: url, prompt: 'write a.txt 1' });
  return (await rig.message(id, 'thank you')).id;
});

const rig = await startAgentRig(await startPostgres(), { temporal: await startDevServer() });
await rig.startWorker();
for (const { name, play } of unrecorded(branches, () => 'agent-job')) {
  const repository = await createAgentRepository();
  const jobId = await play(rig, repository);
  await record('agent-job', name, jobId, rig.temporal.address);
  await repository.remove();
}
await rig.stop();
process.exit(0);
