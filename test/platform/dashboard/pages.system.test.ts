import { sql } from 'drizzle-orm';
import type { Browser } from 'playwright-core';
import { createOwnKey } from '../../../platform/admin/api-keys.ts';
import { addProject } from '../../../platform/admin/projects.ts';
import { createResetLink } from '../../../platform/admin/reset-links.ts';
import { insertAgentJob } from '../../../platform/store/agent-jobs.ts';
import { insertExportJob } from '../../../platform/store/export-jobs.ts';
import { getProject } from '../../../platform/store/projects.ts';
import { pullRequestReviewers, pullRequests } from '../../../platform/store/schema/pull-requests.ts';
import { launchChromium, openPage, problemsOf } from '../../helpers/chromium.ts';
import { createTestRepository, type TestRepository } from '../../helpers/forge-repository.ts';
import { type DashboardFixture, startDashboard } from './dashboard-fixture.ts';

/** A script, right-to-left text with an override, and 10,000 characters without a space. */
const HOSTILE = `"'><script>globalThis.hacked=1</script><img src=x onerror="globalThis.hacked=1">עברית\u202e${'W'.repeat(10_000)}`;
/** The same for fields with a limit. */
const SHORT = `<b onclick="1">עברית\u202e${'W'.repeat(80)}`;

const DOMAIN = `${'w'.repeat(63)}.${'w'.repeat(63)}.${'w'.repeat(63)}.example.com`;
const PROJECT = `prj_${'W'.repeat(60)}`;
const PULL = `pr_${'0123456789abcdef'.repeat(2)}`;

describe('pages with hostile texts', () => {
  let fixture: DashboardFixture;
  let repository: TestRepository;
  let browser: Browser;
  let cookies: Map<string, string>;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    fixture = await startDashboard({ sendMail: async () => Promise.reject(new Error('The mail server is away')) });
    repository = await createTestRepository({ 'README.md': 'old\n' });
    browser = await launchChromium();
    const owner = await fixture.setUp('ada@example.com', SHORT.replace('\u202e', ''));
    cookies = owner.cookies;
    await owner.submit('/ui/settings/members', '/ui/settings/members', {
      email: `${'w'.repeat(64)}@${DOMAIN.slice(64)}`,
      role: 'reviewer',
    });
    await fillDatabase();
  });

  afterAll(async () => {
    await browser?.close();
    await fixture?.stop();
    await repository?.remove();
  });

  async function fillDatabase(): Promise<void> {
    const { db, baseUrl } = fixture.platform;
    const { rows } = await db.execute(sql`select id, name from organizations`);
    const organization = String(rows[0]?.name);
    await addProject(db, {
      organization,
      project: PROJECT,
      domain: DOMAIN,
      repository: repository.url,
      origin: baseUrl,
    });
    const { organizationId = '' } = (await getProject(db, PROJECT)) ?? {};
    const of = { organizationId, projectId: PROJECT, at: new Date() };
    const actor = { kind: 'member' as const, id: 'user', name: SHORT };
    const caller = { organizationId, plan: 'enterprise' as const, actor };
    ids.key = (await createOwnKey(db, caller, { name: SHORT, addresses: ['2001:db8:1234:5678:9abc:def0::/96'] })).id;
    const newExport = () =>
      db.transaction((tx) => insertExportJob(tx, { ...of, domain: DOMAIN, version: 'W'.repeat(64), paths: null }));
    ids.failed = (await newExport()).id;
    await db.execute(sql`update export_jobs set status = 'failed', error = ${HOSTILE}, finished_at = now()`);
    ids.queued = (await newExport()).id;
    const newAgentJob = () =>
      db.transaction((tx) =>
        insertAgentJob(tx, { ...of, repository: repository.url, ref: 'w'.repeat(200), model: SHORT, prompt: HOSTILE }),
      );
    ids.done = (await newAgentJob()).id;
    ids.active = (await newAgentJob()).id;
    const logKey = `agent/${ids.done}/1/log.txt`;
    await fixture.platform.objects.put(logKey, Buffer.from(HOSTILE), { contentType: 'text/plain' });
    await db.execute(sql`update agent_runs set log_key = ${logKey} where job_id = ${ids.done}`);
    const prLink = `${baseUrl}/pulls/${PULL}`;
    await db.execute(sql`
      update agent_jobs set status = 'failed', error = ${HOSTILE}, pr_link = ${prLink} where id = ${ids.done}`);
    const baseSha = (await repository.git('rev-parse', 'main')).trim();
    const headSha = await repository.commit('change', { [`${'W'.repeat(200)}<b>.md`]: HOSTILE, 'README.md': HOSTILE });
    await db.insert(pullRequests).values({
      ...{ id: PULL, projectId: PROJECT, repository: repository.url, number: 1, author: 'galley', title: HOSTILE },
      ...{ body: HOSTILE, headBranch: 'change', headSha, baseBranch: 'main', baseSha },
    });
    await db.insert(pullRequestReviewers).values({ pullRequestId: PULL, kind: 'user', name: SHORT });
    await db.execute(sql`update users set name = ${SHORT}`);
    await db.execute(
      sql`update sessions set user_agent = ${HOSTILE}, ip_address = ${'2001:db8:1234:5678:9abc:def0:1:2'}`,
    );
    await db.execute(sql`
      insert into passkeys (id, user_id, name, public_key, credential_id, counter, device_type, backed_up)
      select 'passkey', id, ${HOSTILE}, 'x', 'x', 0, 'singleDevice', false from users`);
    ids.invitation = String((await db.execute(sql`select id from invitations`)).rows[0]?.id);
  }

  it('have no accessibility violation, run no script, and fit a phone', async () => {
    const { page, errors } = await openPage(browser);
    const url = fixture.platform.baseUrl;
    await page
      .context()
      .addCookies([...cookies].map(([name, value]) => ({ name, value: decodeURIComponent(value), url })));
    const paths = {
      ...{ overview: '/', projects: '/ui/projects', project: `/ui/projects/${PROJECT}` },
      ...{ exports: '/ui/exports', failed: `/ui/exports/${ids.failed}`, queued: `/ui/exports/${ids.queued}` },
      ...{ agents: '/ui/agents', agent: `/ui/agents/${ids.done}`, 'agent-active': `/ui/agents/${ids.active}` },
      ...{ keys: '/ui/settings/keys', revoke: `/ui/settings/keys/${ids.key}/revoke` },
      ...{ members: '/ui/settings/members', audit: '/ui/settings/audit', account: '/ui/account' },
      ...{ invitation: `/ui/invitations/${ids.invitation}`, pull: `/pulls/${PULL}` },
      missing: `/ui/exports/${'W'.repeat(500)}`,
    };
    const problems: string[] = [];
    for (const [name, path] of Object.entries(paths)) {
      await page.goto(url + path);
      problems.push(...(await problemsOf(page, `hostile-${name}`)));
      if (await page.evaluate('globalThis.hacked !== undefined')) problems.push(`${name}: a script ran`);
    }
    // Pages of people who aren't signed in.
    const { page: strangers, errors: strangersErrors } = await openPage(browser);
    const email = 'ada@example.com';
    const reset = (await createResetLink(fixture.platform.db, { email, publicUrl: '' })).url;
    const open = {
      ...{ 'sign-in': '/ui/sign-in?reason=mailed', forgot: '/ui/forgot', reset, invitation: paths.invitation },
      ...{
        'reset-used': '/ui/reset?link=used',
        'invitation-gone': '/ui/invitations/gone',
        'setup-used': '/ui/setup?link=x',
      },
    };
    for (const [name, path] of Object.entries(open)) {
      await strangers.goto(url + path);
      problems.push(...(await problemsOf(strangers, `stranger-${name}`)));
    }
    expect(strangersErrors).toEqual(Array(3).fill(expect.stringMatching(/404|410/)));
    expect(problems).toEqual([]);
    // The last page is missing, and is one.
    expect(errors).toEqual([expect.stringContaining('404')]);
    await page.context().close();
    await strangers.context().close();
  });
});
