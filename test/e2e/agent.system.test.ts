import type { ReceivedMail } from '../../embedded/mailbox/mailbox.ts';
import { type Mailbox, startMailbox } from '../../embedded/mailbox/mailbox.ts';
import { type AgentSystem, actAsReviewer, RULE, SITE, startAgentSystem } from '../helpers/system/agent-system.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { storedInTemporal } from '../helpers/system/stored-in-temporal.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const FILES = {
  'CHANGELOG.md': '# Changelog\n',
  CODEOWNERS: '*.md grace@example.com\n',
};

describe('a publish that prompts an agent, on the whole product in separate processes', () => {
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

  const untilMailed = async (text: string, count: number): Promise<ReceivedMail[]> =>
    await waitFor(
      async () => {
        const mails = await mailsAbout(text);
        return mails.length >= count && mails;
      },
      { describe: `sent ${count} mails about ${text}` },
    );

  scenario(
    'creates a pull request and one mail per reviewer, and completes with the merge, which prompts no agent',
    async () => {
      const response = await system.publish(
        SITE,
        "Replace '# Changelog' with '# Changelog\n\n* first' in CHANGELOG.md",
      );
      expect([response.status, await response.json()]).toEqual([
        202,
        { deliveryId: expect.any(String), accepted: [`export:${SITE}`, `agent-rule:${SITE}:${RULE}`] },
      ]);
      const workflowId = await waitFor(async () => (await system.rule()).changes[0]?.workflowId, {
        describe: 'started a change',
      });
      const state = await system.untilChange(workflowId, 'in-review');
      const prLink = state.prLink ?? '';
      expect(await (await fetch(prLink)).text()).toContain('* first');
      const mails = await untilMailed(prLink, 2);
      expect(receivers(mails)).toEqual(['ada@example.com', 'grace@example.com']);
      expect(await system.git('show', 'main:CHANGELOG.md')).toBe('# Changelog');

      // Like a reviewer, open the link in the mail and submit the page's forms.
      const mail = mails.find(({ envelope }) => envelope.to.some(({ address }) => address === 'ada@example.com'));
      if (mail === undefined) throw new Error('ada got no mail');
      const { link, send } = await actAsReviewer(mail, prLink);
      expect(await send('reviews', { event: 'APPROVE' })).toBe(303);
      await waitFor(async () => (await system.change(workflowId)).reviews.length > 0, {
        describe: 'received the review',
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
      expect(await system.git('show', 'main:CHANGELOG.md')).toBe('# Changelog\n\n* first');

      // The merge pushes to the site's branch: that is exported, perhaps with the first publish, but prompts no agent.
      await waitFor(
        async () =>
          (await system.state(SITE)).deliveries.some(
            ({ source, outcome }) => source === 'github' && ['started', 'coalesced'].includes(outcome),
          ),
        { describe: 'received the merge as a push' },
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
});
