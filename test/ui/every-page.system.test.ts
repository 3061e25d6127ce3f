import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sql } from 'drizzle-orm';
import type { Browser, Page } from 'playwright-core';
import { createOwnKey } from '../../platform/admin/api-keys.ts';
import { addProject } from '../../platform/admin/projects.ts';
import { createResetLink } from '../../platform/admin/reset-links.ts';
import { createReviewLink } from '../../platform/forge/review-links.ts';
import { insertAgentJob } from '../../platform/store/agent-jobs.ts';
import { insertExportJob } from '../../platform/store/export-jobs.ts';
import { getProject } from '../../platform/store/projects.ts';
import { getPullRequest } from '../../platform/store/pull-requests.ts';
import { pullRequestReviewers, pullRequests } from '../../platform/store/schema/pull-requests.ts';
import { createSignInLinks } from '../../web/sign-in-links.ts';
import { OPERATOR_TOKEN } from '../api/running-api.ts';
import { startSites } from '../api/sites-fixture.ts';
import { buildBundle } from '../deployment/bundles.ts';
import { openFixture } from '../deployment/fixture.ts';
import { launchChromium, openPage, problemsOf } from '../helpers/chromium.ts';
import { createTestRepository, type TestRepository } from '../helpers/forge-repository.ts';
import { runWorker } from '../helpers/run-worker.ts';
import { type DashboardFixture, startDashboard } from '../platform/dashboard/dashboard-fixture.ts';
import { routesOf } from '../platform/dashboard/routes-of.ts';

/** A script, right-to-left text with an override, and 10,000 characters without a space. */
const HOSTILE = `"'><script>globalThis.hacked=1</script><img src=x onerror="globalThis.hacked=1">עברית\u202e${'W'.repeat(10_000)}`;
/** The same for fields with a limit. */
const SHORT = `<b onclick="1">עברית\u202e${'W'.repeat(80)}`;

const DOMAIN = `${'w'.repeat(63)}.${'w'.repeat(63)}.${'w'.repeat(63)}.example.com`;
const PROJECT = `prj_${'W'.repeat(60)}`;
const PULL = `pr_${'0123456789abcdef'.repeat(2)}`;

/** An agent that is never done. */
const AGENT_JOB = {
  ...{ id: 'aj_1', projectId: 'prj_docs', status: 'active', prLink: null, model: 'a-model' },
  ...{ prompt: 'Go.', createdAt: new Date(0).toISOString() },
};

/** GET routes of the dashboard that show no page here: a new one must be examined, or join them with its reason. */
const ELSEWHERE: readonly string[] = [
  // Leads to the pull request, examined below.
  '/pulls/:id/review',
  // Needs that there is no owner yet: user-path.system.test.ts examines it.
  '/ui/setup',
  // Need a completed export: planted-faults.system.test.ts examines a proof, user-path.system.test.ts a changed page.
  ...['/ui/exports/:jobId/proof.html', '/ui/exports/:jobId/proof.json', '/ui/exports/:jobId/changed'],
  // Redirects: to another process, to /docs/.
  ...['/ui/open-sites', '/docs'],
];

/** A page's route, or that of data or of a redirect. */
type Routes = { list: readonly string[]; pathOf: (route: string) => string };

/**
 * Opens every GET route that is a page. Returns what is wrong with them, and the routes that are no page for this person:
 * those that lead elsewhere or need what isn't there.
 */
async function examine(page: Page, origin: string, { list, pathOf }: Routes) {
  const [problems, others]: [string[], string[]] = [[], []];
  const cookie = (await page.context().cookies(origin)).map(({ name, value }) => `${name}=${value}`).join('; ');
  for (const route of list) {
    const path = pathOf(route);
    if (/[:*]/.test(path)) throw new Error(`${route}: the test has no id for it`);
    const response = await fetch(origin + path, { headers: { cookie, accept: 'text/html' }, redirect: 'manual' });
    await response.body?.cancel();
    if (!response.headers.get('content-type')?.startsWith('text/html')) continue;
    if (response.status !== 200) {
      others.push(route);
      continue;
    }
    await page.goto(origin + path);
    problems.push(...(await problemsOf(page, route.replace(/\W+/g, '-'))));
    if (await page.evaluate('globalThis.hacked !== undefined')) problems.push(`${route}: a script ran`);
  }
  return { problems, others };
}

const pagesAmong = (routes: readonly string[]) =>
  routes.filter((route) => route.startsWith('GET ')).map((route) => route.slice('GET '.length));

describe('every page of the dashboard, with hostile texts', () => {
  let fixture: DashboardFixture;
  let repository: TestRepository;
  let browser: Browser;
  let cookies: Map<string, string>;
  const ids: Record<string, string> = {};
  const links = createSignInLinks();

  beforeAll(async () => {
    fixture = await startDashboard({
      sendMail: async () => Promise.reject(new Error('The mail server is away')),
      sitesPage: {
        ...{ links, organizationId: () => ids.organization, temporal: undefined },
        ...{
          siteOf: () => SHORT,
          changeOf: async () => HOSTILE,
          servedAt: async () => [`http://${DOMAIN}/`],
          open: () => 'http://127.0.0.1:1',
        },
      },
    });
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
    ids.organization = organizationId;
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
    const pull = await getPullRequest(db, PULL);
    if (pull === undefined) throw new Error('The pull request was not stored');
    const forge = { db, publicUrl: () => '' };
    ids.review = (await createReviewLink(forge, pull, { reviewer: 'eva@example.com', now: new Date() })).url;
    await db.insert(pullRequestReviewers).values({ pullRequestId: PULL, kind: 'user', name: SHORT });
    await db.execute(sql`update users set name = ${SHORT}`);
    await db.execute(
      sql`update sessions set user_agent = ${HOSTILE}, ip_address = ${'2001:db8:1234:5678:9abc:def0:1:2'}`,
    );
    await db.execute(sql`
      insert into passkeys (id, user_id, name, public_key, credential_id, counter, device_type, backed_up)
      select 'passkey', id, ${HOSTILE}, 'x', 'x', 0, 'singleDevice', false from users`);
    ids.invitation = String((await db.execute(sql`select id from invitations`)).rows[0]?.id);
    ids.reset = (await createResetLink(db, { email: 'ada@example.com', publicUrl: '' })).url;
    ids.member = String((await db.execute(sql`select id from members`)).rows[0]?.id);
  }

  /** The path of a route with real ids. */
  const pathOf = (route: string): string =>
    route
      .replace('/exports/:jobId', `/exports/${ids.queued}`)
      .replace('/agents/:jobId', `/agents/${ids.active}`)
      .replace('jobs/:jobId', `jobs/${ids.queued}`)
      .replace('invitations/:id', `invitations/${ids.invitation}`)
      .replace('passkeys/:id', 'passkeys/passkey')
      .replace('keys/:id', `keys/${ids.key}`)
      .replace('members/:id', `members/${ids.member}`)
      .replace('/pulls/:id', `/pulls/${PULL}`)
      .replace('sign-in/link', `sign-in/link?link=${links.create()}`)
      .replace('job/:id', `job/${ids.active}`)
      .replace('/admin/projects/:id', `/admin/projects/${PROJECT}`)
      .replace(':projectId', PROJECT)
      .replace(':file', 'none')
      .replace(/^\/ui\/reset$/, ids.reset ?? '')
      .replace(/:token|\*(?:path|key)/g, 'none');

  it('has no accessibility violation, runs no script, and fits a phone', async () => {
    const url = fixture.platform.baseUrl;
    const { page, errors } = await openPage(browser);
    await page
      .context()
      .addCookies([...cookies].map(([name, value]) => ({ name, value: decodeURIComponent(value), url })));
    const list = pagesAmong(routesOf(fixture.platform));
    const states = [`/ui/exports/${ids.failed}`, `/ui/agents/${ids.done}`];
    const ofMember = await examine(page, url, { list: [...list, ...states], pathOf });
    const { page: strangers, errors: strangersErrors } = await openPage(browser);
    const ofStranger = await examine(strangers, url, { list: ofMember.others, pathOf });
    expect({
      problems: [...ofMember.problems, ...ofStranger.problems],
      others: ofStranger.others,
      errors: [...errors, ...strangersErrors],
    }).toEqual({ problems: [], others: ELSEWHERE, errors: [] });
    await page.goto(`${url}/ui/exports/${'W'.repeat(500)}`);
    expect(await problemsOf(page, 'missing-export')).toEqual([]);
    await strangers.goto(url + ids.review);
    expect(await strangers.getByRole('button', { name: 'Approve' }).count()).toBe(1);
    expect(await problemsOf(strangers, 'pull-of-reviewer')).toEqual([]);
    await page.context().close();
    await strangers.context().close();
  });

  it('has its own link in view in the header of a phone', async () => {
    const { page } = await openPage(browser, { viewport: { width: 390, height: 844 }, isMobile: true });
    const url = fixture.platform.baseUrl;
    await page
      .context()
      .addCookies([...cookies].map(([name, value]) => ({ name, value: decodeURIComponent(value), url })));
    const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    for (const path of ['/', '/ui/settings/audit']) {
      await page.goto(url + path);
      const box = await links.and(page.locator('[aria-current]')).boundingBox();
      expect({ path, isInView: box !== null && box.x >= 0 && box.x + box.width <= 390 }).toEqual({
        path,
        isInView: true,
      });
    }
    await page.context().close();
  });

  it('is examined, too, if it says what is missing or over', async () => {
    const { page } = await openPage(browser);
    const problems: string[] = [];
    const missing = ['/ui/reset?link=used', '/ui/invitations/gone', '/ui/setup?link=x', '/pulls/pr_none'];
    for (const [index, path] of missing.entries()) {
      await page.goto(fixture.platform.baseUrl + path);
      problems.push(...(await problemsOf(page, `missing-${index}`)));
    }
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

test('every page of the sites page has no accessibility violation and fits a phone', async () => {
  const sites = await startSites({
    docs: {
      ...{ projectId: 'prj_docs', webhooks: { token: { secret: 'hush' } } },
      agent: [{ name: 'changelog', on: 'publish', prompt: 'Go.', reviewers: [], quietPeriod: '100ms' }],
    },
  });
  sites.adminApi.behaviour.intercept = ({ path }) =>
    path.startsWith('/v2/agent/') ? { status: 200, body: JSON.stringify(AGENT_JOB) } : undefined;
  const worker = runWorker(await sites.createWorker());
  const browser = await launchChromium();
  const { url, routes } = sites.api;
  const { page, errors } = await openPage(browser);
  const strangers = await openPage(browser);
  await page.goto(`${url}/ui/sites/docs`);
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('Operator token').fill(OPERATOR_TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
  const headers = { authorization: 'Bearer hush', 'content-type': 'application/json' };
  await fetch(`${url}/webhooks/docs/token`, { method: 'POST', headers, body: JSON.stringify({ title: 'A page' }) });
  await page.locator('.badge', { hasText: 'Live' }).first().waitFor();
  const job = sites.adminApi.jobs[0]?.jobId;
  await page.goto(`${url}/ui/sites/docs/rules/changelog`);
  const change = page.locator('a[href^="/ui/changes/"]').first();
  await change.waitFor();
  const pathOf = (route: string): string =>
    route
      .replace('/ui/changes/:workflowId', (change) => changePath ?? change)
      .replace(':site', 'docs')
      .replace(':rule', 'changelog')
      .replace(':list', 'deliveries')
      .replace(/:(source|file|address|token)/g, 'none')
      .replace(/rollback$/, `rollback?job=${job}`);
  const changePath = await change.getAttribute('href');
  const list = [...pagesAmong(routes), '/ui/sites/docs/list/filtered'];
  const signedIn = await examine(page, url, { list, pathOf });
  const others = await examine(strangers.page, url, { list: signedIn.others, pathOf });
  expect([...signedIn.problems, ...others.problems]).toEqual([]);
  // No file, and no dashboard in this process.
  expect(others.others).toEqual(['/ui/assets/:file', '/ui/open-dashboard']);
  expect([...errors, ...strangers.errors]).toEqual([]);
  await browser.close();
  await worker.stop();
  await sites.stop();
});

test("a deployment's own pages have no accessibility violation and fit a phone", async () => {
  const fixture = await openFixture();
  const browser = await launchChromium();
  const { page } = await openPage(browser);
  await fixture.writeValues({ enabled: false });
  const running = await fixture.start();
  const problems: string[] = [];
  const look = async (name: string, status: number) => {
    expect((await page.goto(`${running.url}/${name}`))?.status()).toBe(status);
    problems.push(...(await problemsOf(page, name)));
  };
  await look('off', 503);
  const archive = join(fixture.folder, 'bundle.tar.gz');
  await writeFile(archive, await buildBundle({ version: '1', files: { 'index.html': '<title>home</title>' } }));
  await fixture.writeValues({ enabled: true, bundleUrl: pathToFileURL(archive).href });
  await running.until('serving', ({ version }) => version === '1');
  await look('missing', 404);
  expect(problems).toEqual([]);
  await browser.close();
  await fixture.close();
});
