import type { VNode } from 'preact';
import type { SignedOperator } from '../../../api/pages/access.ts';
import { ChangePage } from '../../../api/pages/change-page.tsx';
import { RulePage } from '../../../api/pages/rule-page.tsx';
import { OperatorSignInPage } from '../../../api/pages/sign-in-page.tsx';
import type { SiteListResult as SiteListData, SiteRow } from '../../../api/pages/site-list.ts';
import { SiteListView } from '../../../api/pages/site-list-page.tsx';
import { SiteListPage, SitePage, type SiteView } from '../../../api/pages/site-page.tsx';
import type { SiteStatus } from '../../../api/site-status.ts';
import type { AgentChangeState, AgentRuleState } from '../../../contract/agent-state.ts';
import { ago, deployment, exportRecord, NOW, siteStatus } from './site-fixture.ts';

export const SIGNED: SignedOperator = {
  session: { id: 'session', name: 'Ada', signedInMs: NOW.getTime(), expiresMs: NOW.getTime() + 1_000_000 },
  dashboard: true,
  temporalUiUrl: 'http://127.0.0.1:8233',
  csrf: 'a-csrf-token',
};

export function siteView(status: Partial<SiteStatus> = {}, changes: Partial<SiteView> = {}): SiteView {
  return {
    status: siteStatus(status),
    domain: 'docs.example.com',
    filtered: [
      { id: 'd-31', source: 'github', at: ago(900), topic: 'push', why: 'branch is refs/heads/draft' },
      { id: 'd-17', source: 'contentful', at: ago(4_000), topic: 'Entry.save', why: 'filters.type' },
      { id: 'd-16', source: 'github', at: ago(8_000), topic: 'push', why: 'branch is refs/heads/draft' },
    ],
    rules: ['changelog', 'translations'],
    csrf: SIGNED.csrf,
    dashboard: SIGNED.dashboard,
    exportNumber: undefined,
    now: NOW,
    workflowUrl: 'http://127.0.0.1:8233/namespaces/default/workflows/export%3Ahandbook',
    ...changes,
  };
}

function listed(site: string, changes: Partial<SiteRow> = {}): SiteRow {
  return {
    site,
    domain: `${site}.example.com`,
    phase: 'live',
    version: '2026-11-21.12',
    linkExpiresAt: ago(-80_000),
    lastPublishAt: ago(4_000),
    lastError: null,
    oldestUnserved: null,
    figures: { since: ago(2_000_000), exports: 41, failed: 2, medianMs: 134_000, p95Ms: 340_000 },
    ...changes,
  };
}

export function siteListData(changes: Partial<SiteListData> = {}): SiteListData {
  return {
    moreAttention: false,
    attention: [
      listed('handbook', {
        phase: 'failed',
        lastError: 'the origin docs.example.com responds with 503',
        linkExpiresAt: ago(-3_000),
        oldestUnserved: { at: ago(4_000), reason: 'failed' },
      }),
      listed('status-page', { phase: 'paused' }),
    ],
    sites: [
      listed('api-reference', {
        ...{ phase: 'exporting', lastPublishAt: ago(20), oldestUnserved: { at: ago(20), reason: 'exporting' } },
      }),
      listed('blog'),
      listed('changelog', { lastPublishAt: ago(400_000) }),
      listed('new-site', {
        ...{ phase: 'idle', version: null, linkExpiresAt: null, lastPublishAt: null, figures: null },
      }),
    ],
    matching: 6,
    configured: 6,
    nextAfter: undefined,
    phasesKnown: true,
    ...changes,
  };
}

export function ruleState(changes: Partial<AgentRuleState> = {}): AgentRuleState {
  return {
    site: 'handbook',
    rule: 'changelog',
    phase: 'collecting',
    pendingCount: 2,
    dueAt: ago(-25),
    changes: [
      { workflowId: 'agent:handbook:changelog:0d1c9a6e-1', startedAt: ago(600) },
      {
        workflowId: 'agent:handbook:changelog:0d1c9a6e-0',
        startedAt: ago(90_000),
        end: { phase: 'merged', message: null },
      },
    ],
    unsubscribed: [],
    error: null,
    newest: null,
    ...changes,
  };
}

/** Of the first change; the second one doesn't respond. */
export const ruleStates = () => ({ 'agent:handbook:changelog:0d1c9a6e-1': changeState() });

export function changeState(changes: Partial<AgentChangeState> = {}): AgentChangeState {
  return {
    site: 'handbook',
    rule: 'changelog',
    phase: 'in-review',
    jobId: 'aj_0123456789abcdef',
    prLink: 'https://git.example.com/docs/handbook/pulls/12',
    pullRequest: { title: 'Add "Release notes 12" to the changelog', state: 'open' },
    error: null,
    lastWords: null,
    notes: [],
    mails: [
      { event: 'opened', to: 'ada@example.com', outcome: 'sent', detail: null, at: ago(500) },
      { event: 'opened', to: 'grace@example.com', outcome: 'unknown', detail: 'the connection was lost', at: ago(500) },
      { event: 'opened', to: 'alan@example.com', outcome: 'refused', detail: '550 5.1.1 no such user', at: ago(500) },
    ],
    reviewRequests: { requested: ['ada', 'grace'], refused: [] },
    reviews: [{ reviewer: 'ada', verdict: 'approved', at: ago(100) }],
    followUps: {
      ...{
        sent: 3,
        max: 3,
        waitsFor: 'person',
        reason: 'the agent has worked on 3 review(s), as many as followUps.max allows',
      },
      lastReview: { id: '7', reviewer: 'grace', at: ago(200) },
    },
    nextReminderAt: ago(-170_000),
    expiresAt: ago(-2_500_000),
    ...changes,
  };
}

const layout = { signed: SIGNED };
const running = exportRecord(13, {
  ...{
    outcome: null,
    requestedAt: ago(40),
    startedAt: ago(35),
    exportedAt: null,
    writtenAt: null,
    servedAt: null,
    endedAt: null,
  },
  version: null,
});

/** Each page with sample data, by the name of its screenshot. */
export const SAMPLE_PAGES: Record<string, () => VNode> = {
  'sign-in': () => <OperatorSignInPage to="/" />,
  sites: () => (
    <SiteListView {...layout} list={siteListData()} query={{ search: '', phase: '', after: '' }} now={NOW} />
  ),
  site: () => <SitePage {...layout} view={siteView()} />,
  'site-exporting': () => (
    <SitePage
      {...layout}
      view={siteView({
        phase: 'exporting',
        exports: [running, ...siteStatus().exports],
        progress: { percent: 42.5, pageCount: 512 },
      })}
    />
  ),
  'site-failed': () => (
    <SitePage
      {...layout}
      view={siteView(
        { phase: 'failed', lastError: { message: 'the origin responds with 503', status: 503, at: ago(60) } },
        { exportNumber: 8 },
      )}
    />
  ),
  'site-review': () => (
    <SitePage
      {...layout}
      view={siteView({
        phase: 'review',
        review: {
          jobId: 'se_000000000000000d',
          version: '2026-11-21.13',
          at: ago(300),
          previewUrl: 'http://127.0.0.1:3100/previews/rIo0qJ3PdhJ9nGgY4vV1bXk2TtQeUwZs/',
          reasons: [
            '310 pages instead of 1204: 74 % fewer (maxShrink is 20 %)',
            '61 newly broken links, for example https://docs.example.com/guide (maxNewlyBroken is 50)',
          ],
        },
        exports: [
          exportRecord(13, {
            outcome: 'held',
            writtenAt: null,
            servedAt: null,
            startedAt: ago(360),
            exportedAt: ago(302),
            endedAt: ago(300),
          }),
          ...siteStatus().exports,
        ],
      })}
    />
  ),
  'site-waves': () => (
    <SitePage
      {...layout}
      view={siteView({
        phase: 'review',
        oldestUnserved: { at: ago(905), reason: 'approval' },
        deployments: [
          deployment(12, {
            ...{ name: 'staging', confirmed: true, servedAt: ago(840), url: 'https://staging.example.com' },
          }),
          deployment(11, {
            ...{ name: 'production', wave: 2, state: 'approval', url: 'https://docs.example.com' },
            desired: { jobId: 'se_000000000000000c', version: '2026-11-21.12', reason: 'waits-for-approval' },
          }),
          deployment(11, {
            ...{ name: 'git:https://git.example.com/infra#main:values.yaml', kind: 'git', wave: 2, state: 'proposed' },
            proposal: 'https://git.example.com/infra/pulls/7',
          }),
        ],
      })}
    />
  ),
  'site-locked': () => (
    <SitePage
      {...layout}
      view={siteView({
        phase: 'locked',
        ...{ jobId: 'se_000000000000000b', version: '2026-11-21.11' },
        lock: { by: 'Grace', at: ago(3_000), reason: 'The release is tomorrow.' },
        withheld: { version: '2026-11-21.12', exportedAt: ago(858) },
        oldestUnserved: { at: ago(905), reason: 'locked' },
        deployments: [
          deployment(11, {
            state: 'locked',
            desired: { jobId: 'se_000000000000000b', version: '2026-11-21.11', reason: 'locked' },
          }),
        ],
      })}
    />
  ),
  deliveries: () => <SiteListPage {...layout} view={siteView()} list="deliveries" />,
  filtered: () => <SiteListPage {...layout} view={siteView()} list="filtered" />,
  rule: () => (
    <RulePage
      {...layout}
      site="handbook"
      rule="changelog"
      state={ruleState()}
      states={ruleStates()}
      workflowUrl={undefined}
      now={NOW}
    />
  ),
  change: () => (
    <ChangePage
      {...layout}
      workflowId="agent:handbook:changelog:0d1c9a6e-1"
      state={changeState()}
      workflowUrl={undefined}
      now={NOW}
    />
  ),
};
