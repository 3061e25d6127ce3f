import { Client as Postgres } from 'pg';
import { type ScriptedSmtpServer, type SmtpStage, startScriptedSmtp } from '../helpers/smtp-server.ts';
import { type AgentSystem, startAgentSystem } from '../helpers/system/agent-system.ts';
import { createGate, type Gate } from '../helpers/system/gate.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const REVIEWERS = ['ada@example.com', 'grace@example.com'];

/** The example agent understands one kind of sentence (examples/replace-agent.js). */
const addLine = (text: string): string => `Replace '# Notes' with '# Notes\n\n* ${text}' in NOTES.md`;

describe('a crash on the way from a prompt to its reviewers', () => {
  let system: AgentSystem;
  let smtp: ScriptedSmtpServer;
  /** Where the mail server waits with its answer, while a gate is set. */
  let held: { stage: SmtpStage; gate: Gate } | undefined;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    smtp = await startScriptedSmtp(async ({ stage }) => {
      if (held?.stage === stage) await held.gate.pass();
      return undefined;
    });
    system = await startAgentSystem({
      platform: 'separate',
      smtpUrl: smtp.url,
      files: { 'NOTES.md': '# Notes\n' },
      rule: { reviewers: REVIEWERS },
    });
  });

  afterEach(() => {
    held?.gate.open();
    held = undefined;
  });

  afterAll(async () => {
    await system?.stop();
    await smtp?.close();
  });

  const branches = async (): Promise<string[]> => {
    const listed = await system.repository.git('for-each-ref', '--format=%(refname:short)', 'refs/heads/galley/');
    return listed.split('\n').filter((name) => name !== '');
  };

  /** Whom the mail server took mails for that name this pull request, which are quoted-printable. */
  const takenFor = (prLink: string): string[] =>
    smtp.taken.filter(({ data }) => data.replaceAll('=\r\n', '').includes(prLink)).flatMap(({ to }) => to);

  const outcomes = async (workflowId: string): Promise<Record<string, string>> =>
    Object.fromEntries((await system.change(workflowId)).mails.map(({ to, outcome }) => [to, outcome]));

  scenario('leaves one pull request where the platform worker dies after its push, before it is recorded', async () => {
    const database = new Postgres({ connectionString: system.databaseUrl });
    await database.connect();
    try {
      // Read by all and written by nobody: so the worker stands exactly there.
      await database.query('BEGIN; LOCK TABLE pull_requests IN SHARE MODE');
      const workflowId = await system.prompt(addLine('pushed'));
      await waitFor(async () => (await branches()).length === 1, { describe: 'pushed' });
      await system.programs.kill('platform-worker');
      await database.query('ROLLBACK');
      expect((await database.query('SELECT 1 FROM pull_requests')).rowCount).toBe(0);
      await system.programs.restart('platform-worker');
      const { prLink, jobId } = await system.untilChange(workflowId, 'in-review');
      expect(await branches()).toEqual([`galley/${jobId}`]);
      expect(await system.repository.git('rev-list', '--count', `main..galley/${jobId}`)).toBe('1');
      expect((await database.query('SELECT 1 FROM pull_requests')).rowCount).toBe(1);
      expect(takenFor(prLink ?? '').sort()).toEqual(REVIEWERS);
    } finally {
      await database.end();
    }
  });

  /** Kills the worker while the mail server waits with its answer at this stage; resolves with the change at rest. */
  const killWhile = async (stage: SmtpStage, text: string): Promise<{ workflowId: string; prLink: string }> => {
    held = { stage, gate: createGate() };
    const { gate } = held;
    const workflowId = await system.prompt(addLine(text));
    // Both mails wait there, so that none is on its way elsewhere.
    const arrived = () => gate.arrivals === REVIEWERS.length;
    await waitFor(arrived, { describe: `came to ${stage} with both mails` }).catch(async (error: unknown) => {
      throw new Error(`${error}: ${JSON.stringify(await system.change(workflowId))}`);
    });
    await system.programs.kill('worker');
    held = undefined;
    gate.open();
    await system.programs.restart('worker');
    const { prLink } = await system.untilChange(workflowId, 'in-review');
    return { workflowId, prLink: prLink ?? '' };
  };

  scenario('sends each mail once where the worker dies before a mail’s last line', async () => {
    const { workflowId, prLink } = await killWhile('DATA', 'died early');
    expect(await outcomes(workflowId)).toEqual({ 'ada@example.com': 'sent', 'grace@example.com': 'sent' });
    expect(takenFor(prLink).sort()).toEqual(REVIEWERS);
  });

  scenario(
    'sends no mail twice where the worker dies before it hears of the outcome, and says that it is unknown',
    async () => {
      const { workflowId, prLink } = await killWhile('end', 'died late');
      expect(await outcomes(workflowId)).toEqual({ 'ada@example.com': 'unknown', 'grace@example.com': 'unknown' });
      expect(takenFor(prLink).sort()).toEqual(REVIEWERS);
    },
  );

  scenario('follows a pull request that was merged while the orchestrator and the platform were down', async () => {
    const workflowId = await system.prompt(addLine('merged in the dark'));
    const { prLink } = await system.untilChange(workflowId, 'in-review');
    for (const name of ['worker', 'api']) await system.programs.kill(name);
    await system.act(prLink ?? '', 'merge');
    await system.programs.kill('platform');
    await system.programs.restart('platform');
    for (const name of ['api', 'worker']) await system.programs.restart(name);
    await system.untilChange(workflowId, 'merged');
    expect((await system.rule()).pendingCount).toBe(0);
  });
});
