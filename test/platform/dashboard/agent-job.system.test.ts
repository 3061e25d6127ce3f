import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { execa } from 'execa';
import { pino } from 'pino';
import type { Browser, Page } from 'playwright-core';
import { createEmbeddedForgeReader } from '../../../forge/embedded.ts';
import { createCommandRunner } from '../../../platform/activities/agent/runners/create-command-runner.ts';
import { DEFAULT_RUNNER_LIMITS } from '../../../platform/activities/agent/runners/runner-limits.ts';
import { addProject } from '../../../platform/admin/projects.ts';
import { createAgentWorkflows } from '../../../platform/agent-workflows.ts';
import { createSetupUrl } from '../../../platform/dashboard/first-administrator.ts';
import { createEmbeddedForge } from '../../../platform/forge/embedded-forge.ts';
import { createAgentWorker, createPlatformWorker } from '../../../platform/worker.ts';
import { launchChromium, openPage, problemsOf } from '../../helpers/chromium.ts';
import { createTestRepository, type TestRepository } from '../../helpers/forge-repository.ts';
import { OPERATOR_TOKEN, startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import { runWorker } from '../../helpers/run-worker.ts';
import { connectTemporal } from '../../helpers/temporal.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { createDatabase } from '../../helpers/test-database.ts';
import { workflowBundles } from '../../helpers/workflow-bundles.ts';
import { PASSWORD } from './dashboard-fixture.ts';

Runtime.install({ logger: new DefaultLogger('ERROR') });

const FILE = 'docs/changelog.md';
const logger = pino({ level: 'silent' });

describe('the page of an agent job, with a worker and an agent at work', () => {
  const folder = temporaryFolder();
  const stops: (() => Promise<unknown>)[] = [];
  let platform: TestPlatform;
  let repository: TestRepository;
  let browser: Browser;
  /** Each byte lets the agent go on; the agent and the test wait for each other. */
  let gate: string;

  beforeAll(async () => {
    const database = await createDatabase();
    stops.push(() => database.stop());
    const temporal = await connectTemporal();
    stops.push(() => temporal.stop());
    const workflows = createAgentWorkflows({ client: temporal.client });
    platform = await startTestPlatform(database, {
      ...{ startAgentJob: workflows.start, cancelAgentJob: workflows.cancel, agentModel: 'example' },
    });
    stops.push(() => platform.stop());
    repository = await createTestRepository({ [FILE]: '# Changelog\n\nNothing yet.\n', 'README.md': 'Handbook\n' });
    stops.push(() => repository.remove());
    await startWorkers(temporal);
    browser = await launchChromium();
    stops.push(() => browser.close());
  });

  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop();
  });

  async function startWorkers(temporal: Awaited<ReturnType<typeof connectTemporal>>): Promise<void> {
    gate = join(folder, 'gate');
    await execa('mkfifo', [gate]);
    const { db, objects, baseUrl } = platform;
    const forge = createEmbeddedForge({ db, publicUrl: () => baseUrl, logger });
    const agent = join(process.cwd(), 'examples/replace-agent.js');
    const script = join(folder, 'agent.sh');
    await writeFile(
      script,
      `echo "Reading $(ls | wc -l) entries"\nread -r word < '${gate}'\necho "Changing <$word>"\nexec node '${agent}'\n`,
    );
    const runner = createCommandRunner({
      ...{ command: `sh ${script}`, model: 'example', sandbox: 'off', logger },
      ...{ limits: DEFAULT_RUNNER_LIMITS, network: { allow: [], refuse: [] }, readOnlyPaths: [] },
      environment: { PATH: process.env.PATH ?? '' },
    });
    const deps = {
      ...{ connection: temporal.nativeConnection, namespace: temporal.namespace, db, objects, logger },
      ...{ searchAttributes: true, runsAgents: false, workflowBundle: workflowBundles.platform },
      agents: { runner, forgeFor: () => forge, workDir: join(folder, 'work') },
    };
    stops.push(runWorker(await createPlatformWorker(deps)).stop);
    stops.push(runWorker(await createAgentWorker(deps)).stop);
  }

  async function signUp(page: Page): Promise<void> {
    await page.goto(String(await createSetupUrl(platform.db, platform.baseUrl)));
    await page.getByLabel('Organization').fill('Handbook');
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create the account' }).click();
    await page.getByText('Welcome.').waitFor();
    const project = { project: 'prj_handbook', domain: 'docs.example.com', repository: repository.url };
    await addProject(platform.db, { organization: 'Handbook', ...project });
  }

  async function ask(page: Page, prompt: string): Promise<void> {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Agent jobs' }).click();
    await page.getByLabel('Prompt').fill(prompt);
    await page.getByRole('button', { name: 'Create job' }).click();
    await page.getByText('The agent job was created.').waitFor();
    await page.evaluate('globalThis.loadedOnce = true');
  }

  const badge = (page: Page, text: string) => page.locator('.title .badge', { hasText: text }).waitFor();
  const isSameDocument = (page: Page) => page.evaluate('globalThis.loadedOnce === true');
  const logOf = (page: Page) => page.locator('.panel', { hasText: 'Log' }).locator('pre').textContent();

  it('shows the growing log, the pull request, its diff and its reviewers, and takes a message and the archiving', async () => {
    const { page, errors } = await openPage(browser);
    const problems: string[] = [];
    const look = async (name: string) => void problems.push(...(await problemsOf(page, `agent-${name}`)));
    await signUp(page);
    await ask(page, `Replace 'Nothing yet.' with '* The first entry' in ${FILE}`);
    await badge(page, 'Active');
    await page.getByText('Reading 2 entries').waitFor();
    expect(await logOf(page)).not.toContain('Changing');
    expect(await page.getByRole('heading', { name: 'Follow-up message' }).count()).toBe(0);
    await look('running');
    await writeFile(gate, 'first\n');
    await badge(page, 'Completed');
    expect(await logOf(page)).toContain(`Changing <first>\n${FILE}: changed in 1 place`);
    await page.locator('.d2h-ins', { hasText: '* The first entry' }).waitFor();
    await page.getByText('No reviewers requested yet.').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    expect(await isSameDocument(page)).toBe(true);
    const prLink = await page.getByRole('link', { name: 'Open', exact: true }).getAttribute('href');
    const [branch = ''] = (await repository.git('branch', '--list', 'galley/*', '--format=%(refname:short)')).split(
      '\n',
    );
    const firstHead = await repository.git('rev-parse', branch);

    // The orchestrator's part, and a reviewer who follows the link in the mail.
    const reader = createEmbeddedForgeReader({ url: platform.baseUrl, operatorToken: OPERATOR_TOKEN });
    await reader.requestReviews(String(prLink), { logins: ['grace'], teams: ['writers'] });
    await review(String(await reader.reviewLink(String(prLink), 'linus@example.com')));
    await page.reload();
    await page.getByText('team writers was asked for a review').waitFor();
    await page.getByText('grace was asked for a review').waitFor();
    await page.getByText('linus@example.com was asked for a review by mail').waitFor();
    await page.getByText('linus@example.com asked for changes').waitFor();
    await look('completed');

    await page.getByLabel('Message').fill(`Replace 'first' with 'second' in ${FILE}`);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('The message was sent.').waitFor();
    await badge(page, 'Active');
    await writeFile(gate, 'second\n');
    await badge(page, 'Completed');
    await page.locator('.d2h-ins', { hasText: '* The second entry' }).waitFor();
    expect(await logOf(page)).toMatch(/Changing <first>[\s\S]*Changing <second>/);
    expect(await repository.git('rev-list', '--count', `${firstHead}..${branch}`)).toBe('1');
    expect(await page.getByRole('link', { name: 'Open', exact: true }).getAttribute('href')).toBe(prLink);
    await look('after-message');

    await page.getByRole('link', { name: 'Archive' }).click();
    await page.getByRole('button', { name: 'Archive the job' }).click();
    await page.getByText('The job was archived.').waitFor();
    await badge(page, 'Archived');
    expect(await page.getByRole('button', { name: 'Send' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Archive' }).count()).toBe(0);
    await look('archived');
    await page.getByRole('link', { name: 'Open', exact: true }).click();
    await page.getByText('* The second entry').first().waitFor();
    expect(page.url()).toBe(prLink);

    await page.goto(platform.baseUrl);
    await ask(page, `Replace 'Handbook' with 'Manual' in README.md`);
    await page.getByText('Reading 2 entries').waitFor();
    await page.getByRole('link', { name: 'Cancel', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel the job' }).click();
    await page.getByText('The job was canceled.').waitFor();
    await badge(page, 'Canceled');
    await look('canceled');
    await page.getByRole('link', { name: 'Agent jobs' }).first().click();
    await look('list');
    expect(await repository.git('branch', '--list', 'galley/*', '--format=%(refname:short)')).toBe(branch);
    expect(problems).toEqual([]);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  async function review(link: string): Promise<void> {
    const { page } = await openPage(browser);
    await page.goto(link);
    await page.getByText('You act as linus@example.com').waitFor();
    await page.getByRole('button', { name: /changes/i }).click();
    await page.getByText('linus@example.com asked for changes').waitFor();
    await page.context().close();
  }
});
