import { z } from 'zod';
import type { AgentChangeState } from '../../contract/agent-state.ts';
import type { ReceivedMail } from '../../embedded/mailbox/mailbox.ts';
import { type Mailbox, startMailbox } from '../../embedded/mailbox/mailbox.ts';
import { type GiteaFixture, startGiteaFixture } from '../forge/gitea-fixture.ts';
import {
  type AgentSystem,
  type AgentSystemOptions,
  actAsReviewer,
  openChange,
  SITE,
  startAgentSystem,
} from '../helpers/system/agent-system.ts';
import type { Interception } from '../helpers/system/intercepting-proxy.ts';
import { FORGE_SECRET, OPERATOR_TOKEN } from '../helpers/system/orchestrator.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const ADA = 'ada@example.com';
const FIRST = "Replace '# Changelog' with '# Changelog\n\n* version 1' in CHANGELOG.md";
const MESSAGE: Interception = { method: 'POST', path: /\/job\/[^/]+\/message$/ };

/** What a reviewer writes; the example agent does it. */
const revise = (version: number): string =>
  `Not yet.\n\nReplace 'version ${version}' with 'version ${version + 1}' in CHANGELOG.md`;

let mailbox: Mailbox;
let system: AgentSystem;
const scenario = scenarios(() => system);

async function start(options: Omit<AgentSystemOptions, 'smtpUrl'>): Promise<void> {
  mailbox = await startMailbox();
  system = await startAgentSystem({ ...options, smtpUrl: mailbox.smtpUrl });
}

async function stop(): Promise<void> {
  await system?.stop();
  await mailbox?.stop();
}

/** The mails about a pull request, oldest first, once the state has recorded this one. */
async function mailsUntil(workflowId: string, prLink: string, event: string): Promise<ReceivedMail[]> {
  const recorded = async () => (await system.change(workflowId)).mails.find((mail) => mail.event === event);
  expect(await waitFor(recorded, { describe: `mailed ${event}` })).toMatchObject({ outcome: 'sent' });
  return (await mailbox.mails()).filter((mail) => mail.text.includes(prLink));
}

async function untilChange(
  workflowId: string,
  description: string,
  holds: (state: AgentChangeState) => boolean,
): Promise<AgentChangeState> {
  const read = async () => {
    const state = await system.change(workflowId);
    return holds(state) && state;
  };
  return await waitFor(read, { describe: description });
}

/** One thread has one subject, and its mails refer to the same message. */
function threadsOf(mails: readonly ReceivedMail[]): Set<string> {
  return new Set(mails.map(({ subject, headers }) => `${subject} ${headers.references}`));
}

const keysOfMessages = (): (string | undefined)[] =>
  system.proxy.matching(MESSAGE).map(({ headers }) => headers['idempotency-key']?.toString());

describe('reviews at the embedded forge, on the whole product in separate processes', () => {
  beforeAll(async () => {
    const rule = { reviewers: [ADA], followUps: { max: 4 } };
    await start({ files: { 'CHANGELOG.md': '# Changelog\n' }, rule });
  });
  afterAll(stop);

  /** Where the worker is killed while a review is followed up. A request is cut, some after the platform got it. */
  const KILLS: readonly (Interception & { afterwards: boolean })[] = [
    { method: 'GET', path: /\/pulls\/[^/]+\/reviews$/, afterwards: false },
    { ...MESSAGE, afterwards: false },
    { ...MESSAGE, afterwards: true },
    { method: 'GET', path: /\/job\/[^/]+$/, afterwards: false },
    { method: 'GET', path: /\/job\/[^/]+\/log$/, afterwards: true },
  ];

  /** Kills the worker at each of these places once. The result has how often that was. */
  function killEverywhere(): { kills: number; restarts: Promise<unknown>[] } {
    const done = { kills: 0, restarts: [] as Promise<unknown>[] };
    for (const { afterwards, ...kind } of KILLS.toReversed()) {
      system.proxy.intercept({ ...kind, times: 1 }, async ({ forward, cut }) => {
        if (afterwards) await forward();
        await system.programs.kill('worker');
        done.kills++;
        cut();
        done.restarts.push(system.programs.restart('worker'));
      });
    }
    return done;
  }

  scenario('become one follow-up and one mail each through 20 kills of the worker, up to followUps.max', async () => {
    const { workflowId, prLink } = await openChange(system, FIRST);
    const [requested] = await mailsUntil(workflowId, prLink, 'review-requested');
    if (requested === undefined) throw new Error('ada got no mail');
    const { send } = await actAsReviewer(requested, prLink);
    const review = (body: string) => send('reviews', { event: 'REQUEST_CHANGES', body });
    let kills = 0;
    for (const version of [1, 2, 3, 4]) {
      const killed = killEverywhere();
      expect(await review(revise(version))).toBe(303);
      await mailsUntil(workflowId, prLink, `follow-up-${version}`);
      await Promise.all(killed.restarts);
      kills += killed.kills;
      expect((await system.change(workflowId)).followUps).toMatchObject({ sent: version, waitsFor: 'review' });
    }
    expect(kills).toBe(20);

    const keys = keysOfMessages();
    expect(keys.length).toBeGreaterThanOrEqual(12);
    expect(new Set(keys).size).toBe(4);
    const [job] = await system.jobs();
    if (job === undefined) throw new Error('there is no job');
    const log = await system.client.agentJobs.log({ projectId: `prj_${SITE}`, id: job.id });
    expect(log.match(/^=== run \d+/gm)).toEqual([1, 2, 3, 4, 5].map((run) => `=== run ${run}`));
    expect(await system.git('show', `galley/${job.id}:CHANGELOG.md`)).toBe('# Changelog\n\n* version 5');
    expect(system.proxy.matching(MESSAGE).at(-1)?.body).toContain("\\n> Replace 'version 4'");

    expect(await review('Still not.')).toBe(303);
    const mails = await mailsUntil(workflowId, prLink, 'person-needed-1');
    expect(mails.map(({ envelope }) => envelope.to.map(({ address }) => address))).toEqual(Array(6).fill([ADA]));
    expect(mails[1]?.text).toContain('CHANGELOG.md: changed in 1 place');
    expect(mails[5]?.text).toContain('This pull request needs a person');
    expect(threadsOf(mails).size).toBe(1);
    const state = await system.change(workflowId);
    expect(state.mails.map(({ event }) => event)).toEqual([
      'review-requested',
      ...[1, 2, 3, 4].map((number) => `follow-up-${number}`),
      'person-needed-1',
    ]);
    const lastReview = { id: expect.any(String), reviewer: ADA, at: expect.any(String) };
    expect(state).toMatchObject({ phase: 'in-review', followUps: { sent: 4, max: 4, lastReview, waitsFor: 'person' } });

    // Someone who was not asked.
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ event: 'REQUEST_CHANGES', reviewer: 'mallory', body: revise(5) });
    expect((await fetch(`${prLink}/reviews`, { method: 'POST', headers, body })).status).toBe(200);
    const { notes } = await untilChange(workflowId, 'ignored the review', (now) => now.notes.length > 0);
    expect(notes).toEqual(["a review isn't passed to the agent: mallory wasn't asked by name to review"]);
    expect(new Set(keysOfMessages()).size).toBe(4);
  });
});

describe('reviews at Gitea, on the whole product in separate processes', () => {
  let fixture: GiteaFixture;

  beforeAll(async () => {
    fixture = await startGiteaFixture();
  });
  afterAll(async () => {
    await stop();
    await fixture?.stop();
  });

  scenario(
    'become one follow-up with the comments on lines; others are ignored, and without a message endpoint a person is asked',
    async () => {
      const [ada, grace] = fixture.people.reviewers;
      const files = await fixture.createRepository({ 'CHANGELOG.md': '# Changelog\n' });
      await start({
        gitea: { url: fixture.gitea.url, token: fixture.bot.token, repository: files.repository },
        rule: { reviewers: [ada.mail], followUps: { max: 3 } },
      });
      const config = { url: `${system.url}/webhooks/${SITE}/github`, content_type: 'json', secret: FORGE_SECRET };
      const events = ['pull_request', 'pull_request_review'];
      const path = `/repos${new URL(files.repository).pathname.replace(/\.git$/, '')}`;
      await fixture.gitea.call(fixture.gitea.admin, 'POST', `${path}/hooks`, {
        type: 'gitea',
        config,
        events,
        active: true,
      });

      const { workflowId, prLink, state } = await openChange(system, FIRST);
      expect(state.reviewRequests).toEqual({ requested: [ada.login], refused: [] });
      await files.review(prLink, grace, 'changes-requested', { body: revise(1), comments: [] });
      const ignored = await untilChange(workflowId, 'ignored the review', ({ notes }) => notes.length > 0);
      expect(ignored.notes).toEqual([
        `a review isn't passed to the agent: ${grace.login} wasn't asked by name to review`,
      ]);

      const comments = [{ path: 'CHANGELOG.md', line: 3, body: revise(1) }];
      await files.review(prLink, ada, 'changes-requested', { body: 'See below.', comments });
      const mails = await mailsUntil(workflowId, prLink, 'follow-up-1');
      expect(threadsOf(mails).size).toBe(1);
      expect(mails.map(({ envelope }) => envelope.to.map(({ address }) => address))).toEqual([[ada.mail], [ada.mail]]);
      const [message, ...more] = system.proxy.matching(MESSAGE);
      expect(message?.body).toContain("On CHANGELOG.md, line 3:\\n> Not yet.\\n>\\n> Replace 'version 1'");
      expect(more).toEqual([]);
      const [job] = await system.jobs();
      const content = await fixture.gitea.call(
        fixture.reviewer,
        'GET',
        `${path}/contents/CHANGELOG.md?ref=galley/${job?.id}`,
      );
      const text = Buffer.from(z.object({ content: z.string() }).parse(content).content, 'base64').toString();
      expect(text).toBe('# Changelog\n\n* version 2\n');

      system.proxy.intercept(MESSAGE, ({ reply }) => reply({ status: 404, body: '{"error":"no such path"}' }));
      await files.review(prLink, ada, 'changes-requested', { body: revise(2), comments: [] });
      const asked = await mailsUntil(workflowId, prLink, 'person-needed-1');
      expect(asked.at(-1)?.text.replaceAll(/\s+/g, ' ')).toContain('it has no message endpoint, or no longer the job');
      expect(threadsOf(asked).size).toBe(1);
      const reason = 'the Admin API takes no follow-ups: it has no message endpoint, or no longer the job';
      const { followUps } = await system.change(workflowId);
      expect(followUps).toMatchObject({
        sent: 1,
        max: 3,
        waitsFor: 'person',
        reason,
        lastReview: { reviewer: ada.login },
      });
    },
  );
});
