import { type Mailbox, startMailbox } from '../../embedded/mailbox/mailbox.ts';
import type { ReceivedMail } from '../../embedded/mailbox/received-mail.ts';
import { type AgentSystem, OPERATOR, RULE, SITE, startAgentSystem } from '../helpers/system/agent-system.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { storedInTemporal } from '../helpers/system/stored-in-temporal.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const FILES = {
  'CHANGELOG.md': '# Changelog\n',
  CODEOWNERS: '*.md grace@example.com\n',
  'README.md': '# Handbook\n',
};

/** The one kind of sentence that the example agent handles (examples/replace-agent.js). */
const sentence = (before: string, after: string, file = 'CHANGELOG.md'): string =>
  `Replace '${before}' with '${after}' in ${file}`;

describe('a publish that prompts an agent, on the whole product, each part a process of its own', () => {
  let system: AgentSystem;
  let mailbox: Mailbox;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    mailbox = await startMailbox();
    system = await startAgentSystem({
      smtpUrl: mailbox.smtpUrl,
      files: FILES,
      rule: { reviewers: ['ada@example.com'] },
    });
  });

  afterAll(async () => {
    await system?.stop();
    await mailbox?.stop();
  });

  const receivers = (mails: ReceivedMail[]): string[] =>
    mails.flatMap(({ envelope }) => envelope.to.map(({ address }) => address)).sort();

  const mailsAbout = async (text: string): Promise<ReceivedMail[]> =>
    (await mailbox.mails()).filter((mail) => mail.text.includes(text));

  const untilTold = async (text: string, count: number): Promise<ReceivedMail[]> =>
    await waitFor(
      async () => {
        const mails = await mailsAbout(text);
        return mails.length >= count && mails;
      },
      { describe: `told ${count} people of ${text}` },
    );

  scenario(
    'becomes a pull request, one mail for each reviewer, and ends with the merge, which prompts nobody',
    async () => {
      const answer = await system.publish(SITE, sentence('# Changelog', '# Changelog\n\n* first'));
      expect([answer.status, await answer.json()]).toEqual([
        202,
        { deliveryId: expect.any(String), accepted: [`export:${SITE}`, `agent-rule:${SITE}:${RULE}`] },
      ]);
      const workflowId = await waitFor(async () => (await system.rule()).changes[0]?.workflowId, {
        describe: 'started a change',
      });
      const state = await system.untilChange(workflowId, 'in-review');
      const prLink = state.prLink ?? '';
      expect(await (await fetch(prLink)).text()).toContain('* first');
      const mails = await untilTold(prLink, 2);
      expect(receivers(mails)).toEqual(['ada@example.com', 'grace@example.com']);
      expect(await system.repository.git('show', 'main:CHANGELOG.md')).toBe('# Changelog');

      // What Ada does: she opens the link in her mail, and sends the forms of the page.
      const mail = mails.find(({ envelope }) => envelope.to.some(({ address }) => address === 'ada@example.com'));
      const link = /\S+\/review\?key=\S+/.exec(mail?.text ?? '')?.[0] ?? 'no link';
      const opened = await fetch(link, { redirect: 'manual' });
      const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
      const page = await (await fetch(prLink, { headers: { accept: 'text/html', cookie } })).text();
      const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? 'no token';
      const send = async (path: string, fields: Record<string, string>) => {
        const body = new URLSearchParams({ ...fields, token });
        return (await fetch(`${prLink}/${path}`, { method: 'POST', body, redirect: 'manual' })).status;
      };
      expect(await send('reviews', { event: 'APPROVE' })).toBe(303);
      await waitFor(async () => (await system.change(workflowId)).reviews.length > 0, {
        describe: 'heard of the review',
      });
      expect(await send('merge', {})).toBe(303);
      expect(await system.untilChange(workflowId, 'merged')).toMatchObject({
        pullRequest: { state: 'merged' },
        reviews: [{ reviewer: 'ada@example.com', verdict: 'approved' }],
        mails: [
          { event: 'review-requested', outcome: 'sent' },
          { event: 'review-requested', outcome: 'sent' },
        ],
      });
      const handle = system.temporal.client.workflow.getHandle(workflowId);
      await waitFor(async () => (await handle.describe()).status.name === 'COMPLETED', { describe: 'completed' });
      expect(await system.repository.git('show', 'main:CHANGELOG.md')).toBe('# Changelog\n\n* first');

      // The merge is a push to the site's branch: it is exported, and nobody is prompted.
      await waitFor(
        async () =>
          (await system.state(SITE)).deliveries.some(
            ({ source, outcome }) => source === 'github' && outcome === 'started',
          ),
        { describe: 'was told of the merge as a push' },
      );
      expect(await system.rule()).toMatchObject({ phase: 'idle', pendingCount: 0, changes: [{ workflowId }] });
      expect(await system.jobs()).toHaveLength(1);
      expect(await mailsAbout(prLink)).toHaveLength(2);
      expect((await fetch(link, { redirect: 'manual' })).status).toBe(410);
      const stored = await storedInTemporal(system.temporal);
      expect(stored).toContain(prLink);
      expect(stored).not.toContain('/review?key=');
    },
  );

  scenario('sends no more mail to a reviewer who followed the link to unsubscribe', async () => {
    const [mail] = (await mailbox.mails()).filter(({ envelope }) => envelope.to[0]?.address === 'ada@example.com');
    const link = /<(http[^>]+)>/.exec(String(mail?.headers['list-unsubscribe']))?.[1] ?? '';
    expect(link.startsWith(system.url)).toBe(true);
    // As a mail program does it (RFC 8058).
    const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
    expect((await fetch(link, { method: 'POST', body })).status).toBe(200);
    await waitFor(async () => (await system.rule()).unsubscribed.includes('ada@example.com'), {
      describe: 'took the wish',
    });
    const workflowId = await system.prompt(sentence('# Handbook', '# The handbook', 'README.md'));
    const { prLink, mails } = await system.untilChange(workflowId, 'in-review');
    expect(mails.map(({ to, outcome }) => [to, outcome])).toEqual(
      expect.arrayContaining([
        ['ada@example.com', 'unsubscribed'],
        ['grace@example.com', 'sent'],
      ]),
    );
    expect(receivers(await untilTold(prLink ?? '', 1))).toEqual(['grace@example.com']);
    await system.act(prLink ?? '', 'close');
    await system.untilChange(workflowId, 'closed');
  });

  scenario('tells the operators to set AGENT_COMMAND if the example agent does not understand the prompt', async () => {
    const workflowId = await system.prompt('Please write a release note.');
    const { error } = await system.untilChange(workflowId, 'failed');
    expect(error).toMatch(/^AGENT_COMMAND isn't set/);
    expect(receivers(await untilTold('AGENT_COMMAND', 1))).toEqual([OPERATOR]);
    const said = 'CHANGELOG.md: does not have that text';
    const quiet = await system.prompt(sentence('no such text', 'anything'));
    expect(await system.untilChange(quiet, 'unchanged')).toMatchObject({ lastWords: said });
    const ends = await waitFor(
      async () => {
        const { changes } = await system.rule();
        return changes[0]?.workflowId === quiet && changes[0].end !== undefined && changes.map(({ end }) => end);
      },
      { describe: 'told the rule' },
    );
    expect(ends.slice(0, 2)).toEqual([
      { phase: 'unchanged', message: said },
      { phase: 'failed', message: expect.stringContaining('AGENT_COMMAND') },
    ]);
  });

  scenario('follows a pull request that was merged while the orchestrator was down', async () => {
    const workflowId = await system.prompt(sentence('first', 'first of all'));
    const { prLink } = await system.untilChange(workflowId, 'in-review');
    for (const name of ['worker', 'api']) await system.programs.kill(name);
    await system.act(prLink ?? '', 'merge');
    // The forge's webhook finds nobody, and the platform forgets that it sent one.
    await system.programs.kill('platform');
    await system.programs.restart('platform');
    for (const name of ['api', 'worker']) await system.programs.restart(name);
    await system.untilChange(workflowId, 'merged');
    expect((await system.rule()).pendingCount).toBe(0);
  });
});
