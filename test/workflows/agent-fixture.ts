import { Context } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { CreateAgentJobInput } from '../../activities/agents/activities.ts';
import type { FinishedAgentJob } from '../../activities/agents/agent-job.ts';
import type { RenderAgentPromptInput } from '../../activities/agents/render-agent-prompt.ts';
import { createFollowPullRequest } from '../../activities/forge/activities.ts';
import { heartbeatWhile } from '../../activities/heartbeat.ts';
import type {
  MailResult,
  OperatorMailInput,
  ReviewMailInput,
  RuleMailInput,
} from '../../activities/mails/mail-input.ts';
import { notConfigured } from '../../activities/not-configured.ts';
import type { AgentChangeState, AgentRuleState } from '../../contract/agent-state.ts';
import { agentChangeState, agentRuleState } from '../../contract/agent-state.ts';
import { QUERIES, SIGNALS, WORKFLOW_IDS } from '../../contract/names.ts';
import type { NotificationEvent } from '../../contract/notification.ts';
import type { PublishEvent, PublishedSignal } from '../../contract/publish-event.ts';
import type { PullRequestReading } from '../../contract/pull-request-event.ts';
import type { RuleSettings } from '../../contract/settings.ts';
import { agentChange } from '../../workflows/agent-change.ts';
import { agentRule } from '../../workflows/agent-rule.ts';
import { RULE_SETTINGS } from '../helpers/rule-settings.ts';
import type { AgentActivities, AgentWorker } from './agent-worker.ts';
import { untilState, type WorkflowServer } from './use-temporal.ts';

type AgentMail = ReviewMailInput | OperatorMailInput | RuleMailInput;

/** The behavior of the stubs. A test may change it at any time. */
export type Outside = {
  /** Null if the worker doesn't know the rule. */
  settings: RuleSettings | null;
  /** The beginning of each prompt. */
  template: string;
  /** Called for each attempt to create a job. May throw. */
  onCreate: (input: CreateAgentJobInput, attempt: number) => void;
  /** Creating a job waits for this. */
  createEnds: Promise<void>;
  /** Null while the jobs run. */
  end: FinishedAgentJob | null;
  /** The last output of the agent. Throws if the service doesn't return it. */
  lastWords: () => string | null;
  /** The delay between two polls of a running job. */
  pollAgainMs: number;
  onPoll: (attempt: number) => void;
  pullRequest: PullRequestReading;
  /** Reviewers in addition to the rule's list. */
  owners: { mails: string[]; logins: string[]; teams: string[] };
  onMail: (mail: AgentMail, attempt: number) => Promise<MailResult> | MailResult;
  onForge: (call: 'plan' | 'request' | 'read') => void;
  /** Called for each attempt to send a follow-up. May throw. */
  onMessage: (attempt: number) => 'accepted' | 'unsupported';
  /** What the review with this id says. */
  onReview: (id: string) => string | null;
};

/** A created job: the request, and the events that its prompt was rendered from. */
export type PromptedJob = CreateAgentJobInput & Pick<RenderAgentPromptInput, 'events' | 'eventCount'>;

export type AgentFixture = {
  site: string;
  outside: Outside;
  /** The created jobs, without repeated requests. */
  jobs: PromptedJob[];
  /** The number of attempts to create a job. */
  creates: number;
  canceled: string[];
  /** The accepted follow-ups by their keys. */
  messages: Map<string, string>;
  /** The accepted mails, as `event recipient`. */
  mails: string[];
  /** Events whose notifications were started. */
  notified: NotificationEvent[];
  requests: string[][];
  reads: number;
  rule: WorkflowHandle<typeof agentRule>;
  ruleState(): Promise<AgentRuleState>;
  /** Polls the rule's state until `holds` is true. */
  untilRule(description: string, holds: (state: AgentRuleState) => boolean): Promise<AgentRuleState>;
  publish(options?: PublishOptions, rule?: string): Promise<void>;
  /** Publishes several events in one signal. */
  publishAll(options: readonly PublishOptions[], rule?: string): Promise<void>;
  startChange(id: string, options?: { events?: PublishEvent[]; eventCount?: number }): Promise<ChangeHandle>;
  change(id: string): ChangeHandle;
  /** Changes the settings, as of the next time they are read. */
  configure(settings: Partial<RuleSettings>): void;
  /** Replaces the worker, which other fixtures may share, by one with this build id. */
  newBuild(build: string): Promise<void>;
  /** The ids of all workflows that the test started or may have started. */
  workflowIds(): string[];
  close(): Promise<void>;
};

export type ChangeHandle = WorkflowHandle<typeof agentChange> & {
  state(): Promise<AgentChangeState>;
  /** Polls the state until `holds` is true. */
  until(description: string, holds: (state: AgentChangeState) => boolean): Promise<AgentChangeState>;
};

export type PublishOptions = {
  id?: string;
  title?: string;
  eventId?: string;
  dedupeMs?: number;
  agentsOwn?: boolean;
  receivedAt?: string;
};

export type AgentFixtureOptions = {
  server: WorkflowServer;
  /** Fixtures may share a worker. */
  worker: AgentWorker;
  settings?: Partial<RuleSettings>;
};

export const PR_LINK = 'http://forge.test/acme/docs/pull/7';
export const RULE = 'changelog';

let fixtures = 0;

/** The agents' workflows on a real server, with stubs for their activities. */
export async function startAgentFixture(options: AgentFixtureOptions): Promise<AgentFixture> {
  const { server, worker } = options;
  const { client } = server;
  const { taskQueue } = worker;
  const site = `site-${process.pid}-${++fixtures}`;
  let published = 0;
  const started = new Set<string>();
  const rendered = new Map<string, RenderAgentPromptInput>();

  const settings = { ...RULE_SETTINGS, ...options.settings };
  const outside: Outside = {
    settings,
    template: 'Update the changelog:',
    onCreate: () => {},
    createEnds: Promise.resolve(),
    end: { status: 'completed', prLink: PR_LINK, error: null },
    lastWords: () => 'Nothing to do.',
    pollAgainMs: 1_000,
    onPoll: () => {},
    pullRequest: { state: 'open', title: 'Update the changelog', mergeCommitSha: null, reviews: [] },
    owners: { mails: [], logins: ['ada'], teams: [] },
    onMail: () => ({ outcome: 'sent', detail: '250 queued' }),
    onForge: () => {},
    onMessage: () => 'accepted',
    onReview: (id) => `what ${id} says`,
  };

  const attempt = (): number => Context.current().info.attempt;
  const readPullRequest = async (): Promise<PullRequestReading> => {
    fixture.reads++;
    outside.onForge('read');
    return outside.pullRequest;
  };
  const send = async (mail: AgentMail): Promise<MailResult> => {
    // A test may delay a mail for a long time on a slow machine.
    const result = await heartbeatWhile(async () => outside.onMail(mail, attempt()));
    fixture.mails.push(`${mail.event} ${mail.to}`);
    return result;
  };

  const activities: AgentActivities = {
    async readRuleSettings() {
      started.add(Context.current().info.workflowExecution?.workflowId ?? '');
      if (outside.settings === null) throw notConfigured(`the rule ${RULE} of the site ${site}`, ['ops@example.com']);
      return outside.settings;
    },
    async renderAgentPrompt(input) {
      const prompt = `${outside.template} ${input.events.map(({ title }) => title).join(', ')} of ${input.eventCount}`;
      rendered.set(prompt, input);
      return { projectId: 'prj_docs', prompt };
    },
    async createAgentJob(input) {
      fixture.creates++;
      const from = 'prompt' in input && rendered.get(input.prompt);
      if (!from) throw new Error('A job was created with a prompt that was not rendered');
      outside.onCreate(input, attempt());
      await heartbeatWhile(() => outside.createEnds);
      const { events, eventCount } = from;
      const isKnown = fixture.jobs.some(({ idempotencyKey }) => idempotencyKey === input.idempotencyKey);
      if (!isKnown) fixture.jobs.push({ ...input, events, eventCount });
      return { projectId: input.projectId, jobId: `aj_${fixture.jobs.length}` };
    },
    async pollAgentJob({ jobId }) {
      outside.onPoll(attempt());
      if (outside.end !== null) return outside.end;
      const message = `${jobId} is active`;
      throw ApplicationFailure.create({
        type: 'StillRunning',
        message,
        nextRetryDelay: outside.pollAgainMs,
        category: 'BENIGN',
      });
    },
    async readLastWords() {
      return outside.lastWords();
    },
    async cancelAgentJob({ jobId }) {
      fixture.canceled.push(jobId);
      return 'accepted';
    },
    async messageAgentJob({ prompt, idempotencyKey }) {
      const outcome = outside.onMessage(attempt());
      if (outcome === 'accepted') fixture.messages.set(idempotencyKey, prompt);
      return outcome;
    },
    async renderFollowUp({ review }) {
      return { prompt: outside.onReview(review.id) };
    },
    async planReview({ reviewers }) {
      outside.onForge('plan');
      const { mails, logins, teams } = outside.owners;
      return {
        title: outside.pullRequest.title,
        mails: [...reviewers, ...mails],
        logins,
        teams,
        unknownLogins: false,
        note: null,
      };
    },
    async requestReview({ logins, teams }) {
      outside.onForge('request');
      fixture.requests.push([...logins, ...teams]);
      return { requested: [...logins, ...teams], refused: [] };
    },
    readPullRequest,
    followPullRequest: createFollowPullRequest(readPullRequest),
    sendReviewMail: send,
    sendOperatorMail: send,
    sendRuleMail: send,
    async startNotifications({ events }) {
      fixture.notified.push(...events);
    },
  };

  const changeHandle = (id: string): ChangeHandle => {
    const handle = client.workflow.getHandle<typeof agentChange>(WORKFLOW_IDS.agentChange(site, RULE, id));
    const state = async (): Promise<AgentChangeState> =>
      agentChangeState.parse(await handle.query<unknown>(QUERIES.state));
    return Object.assign(handle, {
      state,
      async until(description: string, holds: (state: AgentChangeState) => boolean) {
        return await untilState({ server, description, read: state, holds });
      },
    });
  };

  const fixture: AgentFixture = {
    site,
    outside,
    jobs: [],
    creates: 0,
    canceled: [],
    messages: new Map(),
    mails: [],
    notified: [],
    requests: [],
    reads: 0,
    rule: client.workflow.getHandle<typeof agentRule>(WORKFLOW_IDS.agentRule(site, RULE)),
    ruleState: async () => agentRuleState.parse(await fixture.rule.query<unknown>(QUERIES.state)),
    untilRule: (description, holds) => untilState({ server, description, read: fixture.ruleState, holds }),
    publish: async (one = {}, rule = RULE) => await fixture.publishAll([one], rule),
    async publishAll(list, rule = RULE) {
      const nowAt = new Date(await server.now()).toISOString();
      const deliveries: PublishedSignal['deliveries'] = [];
      const events: PublishEvent[] = [];
      for (const { id, title, eventId, dedupeMs = 86_400_000, agentsOwn, receivedAt = nowAt } of list) {
        published++;
        const deliveryId = id ?? `delivery-${published}`;
        started.add(WORKFLOW_IDS.agentChange(site, rule, deliveryId));
        deliveries.push({ id: deliveryId, source: 'test', receivedAt, dedupeMs });
        events.push({
          ...eventOf(eventId ?? `entry-${published}`, title ?? `Page ${published}`),
          at: receivedAt,
          ...(agentsOwn && { agentsOwn }),
        });
      }
      const [newest] = events.slice(-1);
      if (newest === undefined) return;
      const signal: PublishedSignal = { deliveries, newest, events };
      const workflowId = WORKFLOW_IDS.agentRule(site, rule);
      started.add(workflowId);
      await client.workflow.signalWithStart(agentRule, {
        workflowId,
        taskQueue,
        args: [{ site, rule }],
        signal: SIGNALS.published,
        signalArgs: [signal],
      });
    },
    async startChange(id, { events = [eventOf('entry-1', 'A page')], eventCount = events.length } = {}) {
      const workflowId = WORKFLOW_IDS.agentChange(site, RULE, id);
      await client.workflow.start(agentChange, {
        workflowId,
        taskQueue,
        args: [{ site, rule: RULE, events, eventCount, settings }],
      });
      return changeHandle(id);
    },
    change: changeHandle,
    configure(settings) {
      if (outside.settings) outside.settings = { ...outside.settings, ...settings };
    },
    async newBuild(build) {
      await worker.stop();
      await worker.start(build);
    },
    workflowIds: () => [...started],
    async close() {
      for (const id of fixture.workflowIds()) {
        await client.workflow
          .getHandle(id)
          .terminate('the test is over')
          .catch(() => {});
      }
    },
  };
  worker.serve(site, activities);
  await worker.start();
  return fixture;
}

export function eventOf(id: string, title: string): PublishEvent {
  const at = '2026-11-21T08:00:00.000Z';
  return { source: 'test', topic: 'entry.publish', action: 'publish', id, title, url: '', author: 'Ada', at };
}
