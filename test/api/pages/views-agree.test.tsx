import { Registry } from 'prom-client';
import { readSender } from '../../../activities/mails/message/compose-mail.ts';
import { composeSiteMail } from '../../../activities/mails/operators/site-mail.ts';
import { ChangePage } from '../../../api/pages/change-page.tsx';
import { RulePage } from '../../../api/pages/rule-page.tsx';
import { SiteListView } from '../../../api/pages/site-list-page.tsx';
import { SitePage } from '../../../api/pages/site-page.tsx';
import { addSiteMetrics } from '../../../api/site-metrics.ts';
import { describeBriefly, describeInFull } from '../../../cli/sites/describe-site.ts';
import { CANCELLED } from '../../../contract/admin-api.ts';
import { deploymentWords, phaseWords } from '../../../contract/site-words.ts';
import { ExportTable } from '../../../platform/dashboard/exports/export-pages.tsx';
import { renderPart } from '../../../ui/page.tsx';
import { lockSite } from '../../../workflows/export-site/jobs.ts';
import { noticesOf } from '../../../workflows/export-site/notices.ts';
import type { MutableState } from '../../../workflows/export-site/state.ts';
import { servedPublishAt, siteStateWithHistories } from '../../../workflows/export-site/status.ts';
import { holdForReview } from '../../../workflows/export-site/transitions.ts';
import { has, jobOf, NOW_MS, rolledBackTo, SETTINGS, siteOf, timeOf } from '../../workflows/export-site/build-state.ts';
import { changeState, ruleState, SIGNED, siteListData, siteView } from './sample-pages.tsx';
import { exportRecord } from './site-fixture.ts';

const LOCK = { by: 'ada', at: timeOf(0), reason: 'a launch' };
const withheld = { jobId: 'j2', why: 'it said so', at: timeOf(9_000) };

/** Sites whose newest version v2 isn't the current one, with what visitors get: of the site, and of each deployment. */
const SITES: Record<string, [state: MutableState, version: string | null, deployments: Record<string, string | null>]> =
  {
    'rolled back': [withState(siteOf(2, { docs: has(1) }), (state) => rolledBackTo(state, 1)), 'v1', { docs: 'v1' }],
    pinned: [siteOf(2, { docs: has(1, { pin: 'v1' }) }), 'v1', { docs: 'v1' }],
    off: [siteOf(2, { docs: has(1, { off: true }) }), 'v2', { docs: 'v1' }],
    locked: [withState(siteOf(1, { docs: has(1) }), lockAndExport), 'v1', { docs: 'v1' }],
    'half deployed': [
      siteOf(2, { docs: has(2), prod: has(1, { wave: 2, approve: true }) }),
      'v2',
      { docs: 'v2', prod: 'v1' },
    ],
    'not served and rolled back by itself': [siteOf(2, { docs: has(1, { withheld }) }), 'v1', { docs: 'v1' }],
    rejected: [siteOf(2, { docs: has(1, { approve: true, rejected: 'j2' }) }), 'v1', { docs: 'v1' }],
    'in review': [
      withState(siteOf(1, { docs: has(1) }), (state) => holdForReview(state, jobOf(2), ['fewer pages'])),
      'v1',
      { docs: 'v1' },
    ],
  };

function withState(state: MutableState, change: (state: MutableState) => void): MutableState {
  change(state);
  return state;
}

function lockAndExport(state: MutableState): void {
  lockSite(state, LOCK);
  state.jobs.push(jobOf(2));
}

/** The text of a page, its parts separated by a bar. */
const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, '|').replaceAll(/(\s*\|\s*)+/g, '|');

describe.each(Object.entries(SITES))('a site that is %s', (_name, [state, version, deployments]) => {
  const shown = siteStateWithHistories({ site: 'handbook', state, settings: SETTINGS, isWriting: () => false });
  const status = { ...shown, current: true, rejected: [] };
  const now = new Date(NOW_MS + 20_000);
  const words = phaseWords(status.phase);

  it('has the version that visitors get in GET /sites/{site}', () => {
    expect(status.version).toBe(version);
    expect(Object.fromEntries(status.deployments.map((each) => [each.name, each.version]))).toEqual(deployments);
  });

  it('has the same version and words in commands', () => {
    expect(describeBriefly(status)).toMatch(new RegExp(`^handbook: ${words.toLowerCase()}, version ${version}\\b`));
    const full = describeInFull(status, { urls: new Map(), now }).join('\n');
    expect(full).toContain(`handbook: ${words.toLowerCase()}\n`);
    expect(full).toMatch(new RegExp(`^ +version +${version}$`, 'm'));
    for (const each of status.deployments) {
      const place = `${each.name}( \\(wave \\d\\))?: ${deploymentWords(each).toLowerCase()}`;
      expect(full).toMatch(new RegExp(`${place}[^,]*, ${each.version}\\b`));
    }
  });

  it('has them on its page and in the list of sites', () => {
    const page = textOf(renderPart(<SitePage signed={SIGNED} view={siteView(status, { now })} />));
    expect(page).toContain(`|${words}|`);
    for (const each of status.deployments) {
      const row = `\\|${each.name}\\|(wave \\d\\|)?${deploymentWords(each)}\\|${each.version}\\|`;
      expect(page).toMatch(new RegExp(row));
    }
    expect(page).toContain(`|Version|${version}|`);
    const { site, phase, linkExpiresAt } = status;
    const row = { site, domain: undefined, phase, version: status.version, linkExpiresAt };
    const list = siteListData({ attention: [], sites: [row] });
    const listed = textOf(
      renderPart(<SiteListView signed={SIGNED} list={list} query={{ search: '', phase: '', after: '' }} now={now} />),
    );
    expect(listed).toContain(`|handbook|${words}|${version}|`);
  });

  it('has them in the metrics', async () => {
    // Both were written, and only one may be there now.
    state.histories.exports = [2, 1].map((number) =>
      exportRecord(number, { jobId: `j${number}`, requestedAt: timeOf(number * 1_000), writtenAt: timeOf(9_000) }),
    );
    const registry = new Registry();
    const { oldestUnserved } = status;
    const listed = {
      ...{ site: 'handbook', phase: status.phase, linkExpiresAtMs: null, refreshDueAtMs: null },
      servedPublishAtMs: Date.parse(servedPublishAt(state) ?? ''),
      oldestUnserved: oldestUnserved && { atMs: Date.parse(oldestUnserved.at), reason: oldestUnserved.reason },
    };
    addSiteMetrics(registry, { list: async () => [listed], configured: 1 });
    const metrics = await registry.metrics();
    expect(metrics).toContain(`galley_site_phase{site="handbook",phase="${status.phase}"} 1\n`);
    const newest = Object.values(deployments).toSorted().at(-1);
    const served = Date.parse(timeOf(newest === 'v2' ? 2_000 : 1_000)) / 1000;
    expect(metrics).toContain(`galley_site_served_publish_timestamp_seconds{site="handbook"} ${served}\n`);
  });

  it('has no other version as served in its mails', () => {
    const shared = {
      site: 'handbook',
      domain: 'docs.example.com',
      workflowId: 'export:handbook',
      to: 'ada@example.com',
    };
    for (const notice of noticesOf({ site: 'handbook', state, settings: SETTINGS }, NOW_MS + 20_000)) {
      const { text } = composeSiteMail(
        { ...shared, ...notice, version: status.version },
        { sender: readSender('galley@example.com'), date: now },
      );
      expect(text).not.toMatch(/(?:Version served|Rolled back to)\W*v2/);
      expect(text).toContain('v2');
    }
  });
});

describe("a change's page", () => {
  const textWith = (changes: Parameters<typeof changeState>[0]) =>
    textOf(
      renderPart(
        <ChangePage
          {...{
            signed: SIGNED,
            workflowId: 'agent:handbook:changelog:1',
            workflowUrl: undefined,
            now: new Date(NOW_MS),
          }}
          state={changeState(changes)}
        />,
      ),
    );
  const none = { prLink: null, pullRequest: null, mails: [], followUps: null };

  it('says what is to come only while the change runs', () => {
    const [running, merged] = [textWith({ phase: 'in-review' }), textWith({ phase: 'merged' })];
    expect(running).toMatch(/\|Follow-ups\|3 of 3: a person has to take over \(.*\|Next reminder\|.*\|Expires\|/);
    expect(merged).toContain('|Follow-ups|3 of 3; last review');
    expect(merged).not.toMatch(/take over|worked on 3|Next reminder|Expires/);
    expect(textWith({ ...none, phase: 'working' })).toMatch(/\|Pull request\|none yet\|.*\|No mail yet\|/);
    expect(textWith({ ...none, phase: 'unchanged' })).toMatch(/\|Pull request\|none\|.*\|No mail\|/);
  });

  it('says in words what each mail and review is about', () => {
    const mail = { to: 'ada@example.com', outcome: 'sent' as const, detail: null, at: timeOf(0) };
    const review = { reviewer: 'ada', verdict: 'changes-requested' as const, at: timeOf(0) };
    const text = textWith({ mails: [{ ...mail, event: 'review-requested' }], reviews: [review] });
    expect(text).toContain('|Review requested|');
    expect(text).toContain('|ada|asked for changes|');
  });
});

describe('what was canceled', () => {
  const changed = { outcome: 'canceled', jobId: 'se_1', error: null } as const;
  const job = {
    ...{
      jobId: 'se_1',
      status: 'failed' as const,
      progress: 41,
      pageCount: 3,
      version: 'v1',
      domain: 'docs.example.com',
    },
    ...{ createdAt: timeOf(0), updatedAt: timeOf(0), error: CANCELLED },
  };
  const id = 'agent:handbook:changelog:1';
  const change = changeState({ phase: 'cancelled', error: null });
  const rule = ruleState({ changes: [{ workflowId: id, startedAt: timeOf(0) }] });
  const now = new Date(NOW_MS);
  const shared = { signed: SIGNED, workflowUrl: undefined, now };

  it.each([
    [
      'export of a site',
      <SitePage key="" signed={SIGNED} view={siteView({ exports: [exportRecord(1, changed)] }, { now })} />,
    ],
    ['export in the dashboard', <ExportTable key="" jobs={[job]} now={now} />],
    ['change', <ChangePage key="" {...shared} workflowId={id} state={change} />],
    [
      'change in the list of its rule',
      <RulePage key="" {...shared} site="handbook" rule="changelog" state={rule} states={{ [id]: change }} />,
    ],
  ])('has one word: the %s', (_what, page) => {
    const text = textOf(renderPart(page));
    expect(text).toContain('|Canceled|');
    expect(text).not.toMatch(/\|Failed\||cancelled/);
  });
});
