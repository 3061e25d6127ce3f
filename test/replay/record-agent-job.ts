// Records a history of each branch of agentJob under test/replay/agent-job/, for this release:
//   node --import ./scripts/typescript.js test/replay/record-agent-job.ts 0.1 [BRANCH] [FOLDER]
// It takes the workflow bundle that the last `npm test` made, and needs PostgreSQL.
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentFixture, startAgentFixture } from '../helpers/agent-fixture.ts';
import { type AgentRepository, createAgentRepository } from '../helpers/agent-repository.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { startDevServer } from '../helpers/temporal.ts';
import { record, unrecorded } from './recorder.ts';

/** Plays a branch and returns the id of the job whose last run shows it. */
type Play = (fixture: AgentFixture, repository: AgentRepository) => Promise<string>;

const branches: { name: string; play: Play }[] = [];

function branch(name: string, play: Play): void {
  branches.push({ name, play });
}

branch(
  'completed-with-a-pull-request',
  async (fixture, { url }) => (await fixture.run({ repository: url, prompt: 'write a.txt 1' })).id,
);

branch(
  'unchanged',
  async (fixture, { url }) => (await fixture.run({ repository: url, prompt: 'print nothing to do' })).id,
);

branch(
  'failed-in-the-agent',
  async (fixture, { url }) => (await fixture.run({ repository: url, prompt: 'print no\nfail' })).id,
);

branch(
  'failed-before-the-agent',
  async (fixture, { url }) => (await fixture.run({ repository: url, ref: 'nowhere', prompt: 'write a.txt 1' })).id,
);

branch('failed-at-the-push', async (fixture, { url, commit }) => {
  const { id, branch } = await fixture.run({ repository: url, prompt: 'write a.txt 1' });
  const running = fixture.message(id, 'pause 2000\nwrite b.txt 2');
  while (fixture.runner.tasks.at(-1)?.run !== 2) await sleep(20);
  await commit(branch, { 'theirs.txt': 'theirs\n' });
  return (await running).id;
});

branch('cancelled-while-the-agent-works', async (fixture, { url }) => {
  const { id } = await fixture.add({ repository: url, prompt: 'wait' });
  await fixture.start(id);
  while (fixture.runner.tasks.at(-1)?.jobId !== id) await sleep(20);
  await fixture.cancel(id);
  await fixture.end(id);
  return id;
});

branch('cancel-accepted-without-the-workflow', async (fixture, { url }) => {
  const { id } = await fixture.add({ repository: url, prompt: 'wait' });
  await fixture.start(id);
  while (fixture.runner.tasks.at(-1)?.jobId !== id) await sleep(20);
  await fixture.cancel(id, { workflow: false });
  await fixture.end(id);
  return id;
});

branch('over-before-it-began', async (fixture, { url }) => {
  const { id } = await fixture.run({ repository: url, prompt: 'write a.txt 1' });
  await fixture.start(id);
  await fixture.end(id);
  return id;
});

branch('follow-up', async (fixture, { url }) => {
  const { id } = await fixture.run({ repository: url, prompt: 'write a.txt 1' });
  return (await fixture.message(id, 'write b.txt 2')).id;
});

branch('follow-up-that-changes-nothing', async (fixture, { url }) => {
  const { id } = await fixture.run({ repository: url, prompt: 'write a.txt 1' });
  return (await fixture.message(id, 'thank you')).id;
});

const fixture = await startAgentFixture(await startPostgres(), { temporal: await startDevServer() });
await fixture.startWorker();
for (const { name, play } of unrecorded(branches, () => 'agent-job')) {
  const repository = await createAgentRepository();
  const jobId = await play(fixture, repository);
  await record('agent-job', name, jobId, fixture.temporal.address);
  await repository.remove();
}
await fixture.stop();
process.exit(0);
