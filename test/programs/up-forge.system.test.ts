import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { createBareRepository } from '../../embedded/bare-repository.ts';
import { startMailbox } from '../../embedded/mailbox/mailbox.ts';
import { FREE_PORTS } from '../helpers/free-port.ts';
import { galley, startGalley } from '../helpers/galley.ts';
import { PATIENT_CONNECTION } from '../helpers/patient-connection.ts';
import { createCleanups } from '../helpers/system/cleanups.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();
const cleanups = createCleanups();
afterEach(cleanups.run);

/** Longer than a webhook takes, shorter than the pauses between two looks at the pull request. */
const SOON_MS = 120_000;

it('galley up learns of a merge in its own forge from a webhook, at each start', async () => {
  const repository = await createBareRepository(join(folder, 'handbook.git'), { 'CHANGELOG.md': 'old\n' });
  const mailbox = await startMailbox();
  cleanups.add(mailbox.stop);
  await writeFile(
    join(folder, 'galley.yaml'),
    `smtp: {url: "${mailbox.smtpUrl}", from: "Galley <galley@example.com>"}
forge: {kind: embedded}
sites:
  handbook:
    domain: docs.example.com
    webhooks: {standard: {secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLjG2"}}
    agent:
      - {name: notes, on: publish, prompt: "Replace 'old' with 'new' in CHANGELOG.md", reviewers: [ada@example.com], quietPeriod: 100ms}
`,
  );
  const variables = { ...FREE_PORTS, GALLEY_HOME: join(folder, 'state'), GALLEY_CONFIG: join(folder, 'galley.yaml') };
  const run = async (...args: string[]) => await galley(args, variables, folder);
  const first = await startGalley(['up'], variables, folder);
  cleanups.add(() => first.stop('SIGKILL'));
  const set = await run(
    'projects',
    'set',
    '--project',
    'prj_handbook',
    '--repository',
    repository.url,
    '--ref',
    'main',
  );
  expect(set).toMatchObject({ code: 0 });
  expect(first.output()).not.toContain('/webhooks/handbook/github');
  expect((await first.stop('SIGINT')).code).toBe(0);

  // The ports are others now.
  const second = await startGalley(['up'], variables, folder);
  cleanups.add(() => second.stop('SIGKILL'));
  expect(await run('webhook', 'send', 'handbook', 'standard')).toMatchObject({ code: 0 });
  const mails = await waitFor(
    async () => {
      const received = await mailbox.mails();
      return received.length > 0 && received;
    },
    { describe: 'asked for a review' },
  );
  const [, key] = /(\S+\/review\?key=\S+)/.exec(mails[0]?.text ?? '') ?? [];
  const prLink = String(key).replace(/\/review\?.*/, '');
  const token = await readFile(join(folder, 'state', 'operator-token'), 'utf8');
  const merged = await fetch(`${prLink}/merge`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token.trim()}`, 'content-type': 'application/json' },
    body: '{}',
  });
  expect(merged.status).toBe(200);
  const [, address = ''] = / temporal (\S+)/.exec(second.ready) ?? [];
  const connection = await Connection.connect({ address, ...PATIENT_CONNECTION });
  cleanups.add(() => connection.close());
  const changes = new Client({ connection }).workflow;
  await waitFor(
    async () => {
      for await (const { status } of changes.list({ query: 'WorkflowType = "agentChange"' })) {
        if (status.name === 'COMPLETED') return true;
      }
      return false;
    },
    { describe: 'learned of the merge', timeoutMs: SOON_MS },
  );
  await connection.close();
  expect((await second.stop('SIGINT')).code).toBe(0);
});
