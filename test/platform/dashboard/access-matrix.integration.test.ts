import { sql } from 'drizzle-orm';
import { createKey, revokeKey } from '../../../platform/admin/api-keys.ts';
import { addProject, setProject } from '../../../platform/admin/projects.ts';
import { CHOICE_NAMES, CHOICES } from '../../../platform/dashboard/projects/project-form.ts';
import { insertAgentJob } from '../../../platform/store/agent-jobs.ts';
import { insertExportJob } from '../../../platform/store/export-jobs.ts';
import { getProject } from '../../../platform/store/projects.ts';
import { pullRequests } from '../../../platform/store/schema/pull-requests.ts';
import { OPERATOR_TOKEN } from '../../helpers/platform-api.ts';
import type { Browser, Shown } from './browser.ts';
import { type DashboardFixture, PASSWORD, startDashboard } from './dashboard-fixture.ts';
import { routesOf } from './routes-of.ts';

/** What a request leads to: `in` is everything but a rejection for who asks. */
type Cell = 'in' | 'sign-in' | 401 | 403 | 404;
type Fields = Record<string, string>;

/** For owner, developer, reviewer, and the owner of another organization. */
type PageRow = [route: string, owner: Cell, developer: Cell, reviewer: Cell, other: Cell, fields?: Fields];

const ID = 'pr_0123456789abcdef0123456789abcdef';

/** Every page and form behind the sign-in. A form without its CSRF token is always 403; without a session, sign-in. */
const PAGES: readonly PageRow[] = [
  ['GET /', 'in', 'in', 'in', 'in'],
  ['GET /ui/overview/events', 'in', 'in', 'in', 'in'],
  ['GET /ui/projects', 'in', 'in', 'in', 'in'],
  ['POST /ui/projects', 'in', 'in', 403, 'in', { domain: 'wrong' }],
  ['GET /ui/projects/:projectId', 'in', 'in', 'in', 404],
  ['POST /ui/projects/:projectId', 'in', 'in', 403, 404, { domain: '' }],
  ['GET /ui/projects/:projectId/check', 'in', 'in', 403, 404],
  ['GET /ui/projects/:projectId/move', 'in', 403, 403, 404],
  // They own no other organization.
  ['POST /ui/projects/:projectId/move', 403, 403, 403, 404, { organization: 'Elsewhere' }],
  ['GET /ui/projects/:projectId/remove', 'in', 403, 403, 404],
  ['POST /ui/projects/:projectId/remove', 'in', 403, 403, 404, { domain: '' }],
  ['GET /ui/exports', 'in', 'in', 'in', 'in'],
  ['POST /ui/exports', 'in', 'in', 403, 404, { domain: 'matrix.example.com' }],
  ['GET /ui/exports/events', 'in', 'in', 'in', 'in'],
  ['GET /ui/exports/:jobId', 'in', 'in', 'in', 404],
  ['GET /ui/exports/:jobId/events', 'in', 'in', 'in', 404],
  ['GET /ui/exports/:jobId/changed', 'in', 'in', 'in', 404],
  ['GET /ui/exports/:jobId/proof.html', 'in', 'in', 'in', 404],
  ['GET /ui/exports/:jobId/proof.json', 'in', 'in', 'in', 404],
  ['POST /ui/exports/:jobId/preview', 'in', 'in', 'in', 404],
  ['POST /ui/exports/:jobId/again', 'in', 'in', 403, 404],
  ['GET /ui/exports/:jobId/cancel', 'in', 'in', 403, 404],
  ['POST /ui/exports/:jobId/cancel', 'in', 'in', 403, 404],
  ['GET /ui/agents', 'in', 'in', 'in', 'in'],
  ['POST /ui/agents', 'in', 'in', 403, 404, { project: 'prj_matrix', prompt: '' }],
  ['GET /ui/agents/events', 'in', 'in', 'in', 'in'],
  ['GET /ui/agents/:jobId', 'in', 'in', 'in', 404],
  ['GET /ui/agents/:jobId/events', 'in', 'in', 'in', 404],
  ['POST /ui/agents/:jobId/message', 'in', 'in', 403, 404],
  ['GET /ui/agents/:jobId/archive', 'in', 'in', 403, 404],
  ['POST /ui/agents/:jobId/archive', 'in', 'in', 403, 404],
  ['GET /ui/agents/:jobId/cancel', 'in', 'in', 403, 404],
  ['POST /ui/agents/:jobId/cancel', 'in', 'in', 403, 404],
  ['GET /ui/settings/keys', 'in', 'in', 403, 'in'],
  ['POST /ui/settings/keys', 'in', 'in', 403, 'in', { name: '' }],
  ['GET /ui/settings/keys/:id/rotate', 'in', 'in', 403, 404],
  ['POST /ui/settings/keys/:id/rotate', 'in', 'in', 403, 404, { days: '0' }],
  ['GET /ui/settings/keys/:id/revoke', 'in', 'in', 403, 404],
  ['POST /ui/settings/keys/:id/revoke', 'in', 'in', 403, 404],
  ['GET /ui/settings/members', 'in', 'in', 'in', 'in'],
  ['POST /ui/settings/members', 'in', 403, 403, 'in', { email: 'wrong', role: 'owner' }],
  ['POST /ui/settings/members/organization', 'in', 403, 403, 'in', { name: '' }],
  ['GET /ui/settings/members/organization/remove', 'in', 403, 403, 'in'],
  ['POST /ui/settings/members/organization/remove', 'in', 403, 403, 'in', { name: '' }],
  ['POST /ui/settings/members/:id/role', 'in', 403, 403, 404, { role: 'wrong' }],
  ['GET /ui/settings/members/:id/remove', 'in', 403, 403, 404],
  ['POST /ui/settings/members/:id/remove', 'in', 403, 403, 404],
  ['GET /ui/settings/members/invitations/:id/cancel', 'in', 403, 403, 404],
  ['POST /ui/settings/members/invitations/:id/cancel', 'in', 403, 403, 404],
  ['GET /ui/settings/audit', 'in', 'in', 403, 'in'],
  ['GET /ui/settings/audit/audit-log.csv', 'in', 'in', 403, 'in'],
  ['GET /ui/account', 'in', 'in', 'in', 'in'],
  ['POST /ui/account/organization', 404, 404, 404, 404, { organization: 'org_of_nobody' }],
  ['POST /ui/account/password', 'in', 'in', 'in', 'in', { current: PASSWORD, new: 'short' }],
  ['POST /ui/account/prove', 'in', 'in', 'in', 'in', { password: PASSWORD }],
  ['GET /ui/account/passkeys/:id/remove', 404, 404, 404, 404],
  ['POST /ui/account/passkeys/:id/remove', 404, 404, 404, 404],
  ['GET /ui/account/end-sessions', 'in', 'in', 'in', 'in'],
  ['POST /ui/account/end-sessions', 'in', 'in', 'in', 'in'],
  // Outside of `galley up`, there is no sites page to open.
  ['GET /ui/open-sites', 404, 403, 403, 404],
  ['POST /ui/sign-out', 'in', 'in', 'in', 'in'],
];

/** Deciding about a pull request, by session. Everyone with its link may read it. */
const DECISIONS: readonly PageRow[] = [
  ['POST /pulls/:id/reviews', 'in', 401, 'in', 401, { event: 'COMMENT', body: 'Seen.' }],
  // Allowed, but the repository of this pull request isn't there.
  ['POST /pulls/:id/merge', 404, 401, 404, 401],
  ['POST /pulls/:id/close', 'in', 401, 'in', 401],
  ['POST /pulls/:id/requested_reviewers', 403, 401, 403, 401],
  ['POST /pulls/:id/review_links', 403, 401, 403, 401],
];

/**
 * Every endpoint of the Admin API: the organization's key, and another's. A key of the project is like the former, one of
 * another project like the latter, and one that may only read gets 403 for POST. No, a revoked, or an expired one: 401.
 */
const ENDPOINTS: readonly [route: string, own: Cell, other: Cell, body?: object][] = [
  ['POST /v2/agent/:projectId/job', 'in', 404, { prompt: '' }],
  ['GET /v2/agent/:projectId/job/:id', 'in', 404],
  ['GET /v2/agent/:projectId/job/:id/log', 'in', 404],
  ['POST /v2/agent/:projectId/job/:id/message', 'in', 404, { prompt: '' }],
  ['POST /v2/agent/:projectId/job/:id/cancel', 'in', 404],
  ['POST /v2/agent/:projectId/job/:id/archive', 'in', 404],
  ['GET /v2/agent/:projectId/jobs', 'in', 404],
  ['POST /v1/static-export/jobs', 'in', 404, { domain: 'matrix.example.com', version: '' }],
  ['GET /v1/static-export/jobs', 'in', 'in'],
  ['GET /v1/static-export/jobs/:jobId', 'in', 404],
  ['POST /v1/static-export/jobs/:jobId/cancel', 'in', 404],
  ['POST /v1/static-export/jobs/:jobId/bundle', 'in', 404],
  ['POST /v1/static-export/jobs/:jobId/preview', 'in', 404],
  ['GET /v1/static-export/jobs/:jobId/report', 'in', 404],
  ['GET /v1/static-export/jobs/:jobId/changes', 'in', 404],
  ['POST /v1/static-export/:projectId/jobs', 'in', 404, { basePath: '/elsewhere' }],
  ['GET /v1/static-export/:projectId/jobs/:jobId', 'in', 404],
];

/** The operator token only: keys and sessions are 401. */
const OPERATOR = [
  'GET /admin/keys',
  'POST /admin/keys',
  'POST /admin/keys/:id/revoke',
  'POST /admin/reset-links',
  'GET /admin/organizations',
  'PATCH /admin/organizations',
  'DELETE /admin/organizations',
  'GET /admin/projects',
  'POST /admin/projects',
  'PATCH /admin/projects',
  'GET /admin/projects/:id',
  'DELETE /admin/projects/:id',
  'POST /admin/projects/:id/move',
  'POST /admin/gc',
];

/** Open to all: what they show needs no right, or their link or answer is the right. */
const OPEN = [
  'GET /metrics',
  'GET /healthz',
  'GET /readyz',
  'GET /openapi.json',
  'GET /docs',
  'GET /docs/',
  'GET /docs/:file',
  'GET /ui/assets/:file',
  'GET /ui/sign-in',
  'POST /ui/sign-in',
  'GET /ui/sign-in/link',
  'POST /ui/sign-in/link',
  'GET /ui/forgot',
  'POST /ui/forgot',
  'GET /ui/reset',
  'POST /ui/reset',
  'GET /ui/setup',
  'POST /ui/setup',
  'GET /ui/invitations/:id',
  'POST /ui/invitations/:id',
  'GET /pulls/:id',
  'GET /pulls/:id/files',
  'GET /pulls/:id/codeowners',
  'GET /pulls/:id/review',
  'GET /pulls/:id/reviews',
  'GET /previews/:token',
  'GET /previews/:token/',
];

function cellOf({ status, location }: Pick<Shown, 'status' | 'location'>): Cell {
  if (location?.startsWith('/ui/sign-in?to') || location === '/ui/sign-in') return 'sign-in';
  return status === 401 || status === 403 || status === 404 ? status : 'in';
}

describe('who may do what', () => {
  let fixture: DashboardFixture;
  const people: Record<string, Browser> = {};
  const ids: Record<string, string> = {};
  const keys: Record<string, string> = {};

  beforeAll(async () => {
    fixture = await startDashboard();
    const { db } = fixture.platform;
    const owner = await fixture.setUp('owner@example.com', 'Matrix');
    people.owner = owner;
    people.developer = await fixture.invite(owner, 'developer@example.com', 'developer');
    people.reviewer = await fixture.invite(owner, 'reviewer@example.com', 'reviewer');
    people.other = await fixture.invite(owner, 'other@example.com', 'owner');
    const own = await createKey(db, { organization: 'Matrix' });
    const revoked = await createKey(db, { organization: 'Matrix' });
    const expired = await createKey(db, { organization: 'Matrix' });
    await revokeKey(db, revoked.id);
    await db.execute(sql`update api_keys set expires_at = now() - interval '1 hour' where id = ${expired.id}`);
    Object.assign(keys, { own: own.key, revoked: revoked.key, expired: expired.key });
    keys.other = (await createKey(db, { organization: 'Elsewhere' })).key;
    keys.read = (await createKey(db, { organization: 'Matrix', scope: 'read' })).key;
    await db.execute(sql`
      update members set organization_id = (select id from organizations where name = 'Elsewhere')
      where user_id = (select id from users where email = 'other@example.com')`);
    const repository = 'https://git.example.com/docs.git';
    await addProject(db, {
      organization: 'Matrix',
      project: 'prj_matrix',
      domain: 'matrix.example.com',
      repository,
      origin: fixture.platform.baseUrl,
    });
    await addProject(db, { organization: 'Matrix', project: 'prj_sibling', domain: 'sibling.example.com' });
    for (const project of ['prj_matrix', 'prj_sibling'])
      keys[project] = (await createKey(db, { organization: 'Matrix', project })).key;
    const project = await getProject(db, 'prj_matrix');
    const organizationId = project?.organizationId ?? '';
    const of = { organizationId, projectId: 'prj_matrix', at: new Date() };
    const job = await db.transaction((tx) =>
      insertExportJob(tx, { ...of, domain: 'matrix.example.com', version: null, paths: null }),
    );
    const agent = await db.transaction((tx) =>
      insertAgentJob(tx, { ...of, repository, ref: null, model: 'a-model', prompt: 'Do it' }),
    );
    await db.insert(pullRequests).values({
      ...{ id: ID, projectId: 'prj_matrix', repository: 'file:///nowhere/docs.git', number: 1, author: 'galley' },
      ...{ title: 'Change', body: '', headBranch: 'galley/x', headSha: 'a'.repeat(40) },
      ...{ baseBranch: 'main', baseSha: 'b'.repeat(40) },
    });
    Object.assign(ids, { export: job.id, agent: agent.id, key: own.id });
    const { rows } = await db.execute(sql`
      select members.id from members join users on users.id = user_id where email = 'owner@example.com'`);
    ids.member = String(rows[0]?.id);
    await owner.submit('/ui/settings/members', '/ui/settings/members', { email: 'new@example.com', role: 'reviewer' });
    ids.invitation = /invitations\/([\w-]+)\/cancel/.exec((await owner.get('/ui/settings/members')).text)?.[1] ?? '';
  });
  afterAll(() => fixture?.stop());

  /** The path of a route with real ids. */
  function pathOf(route: string): string {
    const path = route.slice(route.indexOf(' ') + 1);
    const id = path.startsWith('/ui/agents') || path.startsWith('/v2/') ? ids.agent : ids.export;
    return path
      .replace(':projectId', 'prj_matrix')
      .replace(':jobId', id ?? '')
      .replace('invitations/:id', `invitations/${ids.invitation}`)
      .replace(/(members|keys)\/:id/, (_all, list) => `${list}/${list === 'keys' ? ids.key : ids.member}`)
      .replace('/pulls/:id', `/pulls/${ID}`)
      .replace(':id', ids.agent ?? '');
  }

  const tokens = new WeakMap<Browser, string>();

  /** The CSRF token of the browser's session. */
  async function csrfOf(browser: Browser): Promise<string> {
    const known = tokens.get(browser);
    if (known !== undefined) return known;
    const csrf = /name="csrf" value="([\w-]+)"/.exec((await browser.get('/ui/account')).text)?.[1] ?? '';
    tokens.set(browser, csrf);
    return csrf;
  }

  async function ask(browser: Browser, route: string, fields: Fields = {}): Promise<Cell> {
    if (route.startsWith('POST ')) return cellOf(await browser.post(pathOf(route), fields));
    // Live updates don't end: their status is enough.
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const abort = new AbortController();
    const url = fixture.platform.baseUrl + pathOf(route);
    const response = await fetch(url, { headers: { cookie }, redirect: 'manual', signal: abort.signal });
    abort.abort();
    return cellOf({ status: response.status, location: response.headers.get('location') });
  }

  it('is what the pages of each role link to: no link of theirs leads to 403', async () => {
    for (const [who, browser] of Object.entries(people)) {
      const links = new Set<string>();
      for (const [route] of PAGES.filter(([page]) => page.startsWith('GET') && !/events|proof|check$/.test(page))) {
        const { text } = await browser.get(pathOf(route));
        for (const [, href = ''] of text.matchAll(/href="(\/ui\/[^"]*|\/)"/g)) links.add(href);
      }
      expect(links.size).toBeGreaterThan(5);
      for (const link of links) expect([who, link, (await browser.get(link)).status]).not.toContain(403);
    }
  });

  it('is in these tables for every route there is', () => {
    const known = [...PAGES, ...DECISIONS, ...ENDPOINTS].map(([route]) => route).concat(OPERATOR, OPEN);
    const served = new Set(routesOf(fixture.platform));
    expect(known.filter((route) => !served.has(route) && !/\/docs/.test(route))).toEqual([]);
    expect(
      [...served].filter((route) => !known.includes(route) && !/ \/(links|docs|ui\/auth)\b|\*/.test(route)),
    ).toEqual([]);
  });

  it('holds without a session, with an expired one, and with a wrong CSRF token', async () => {
    const [nobody, late] = [fixture.browser(), fixture.browser()];
    await late.post('/ui/sign-in', { to: '', email: 'developer@example.com', password: PASSWORD });
    await fixture.platform.db.execute(sql`
      update sessions set expires_at = now() - interval '1 minute'
      where id = (select id from sessions order by created_at desc limit 1)`);
    const owner = people.owner ?? nobody;
    const wrong: [string, string, Cell][] = [];
    for (const [route, , , , , fields = {}] of PAGES) {
      for (const [who, browser] of [
        ['nobody', nobody],
        ['late', late],
      ] as const) {
        const cell = await ask(browser, route, fields);
        if (cell !== 'sign-in') wrong.push([who, route, cell]);
      }
      if (!route.startsWith('POST')) continue;
      for (const csrf of ['', 'wrong', await csrfOf(people.developer ?? nobody)]) {
        const cell = await ask(owner, route, { ...fields, csrf });
        if (cell !== 403) wrong.push([`csrf ${csrf}`, route, cell]);
      }
    }
    for (const [route, , , , , fields = {}] of DECISIONS) {
      expect([route, await ask(nobody, route, { ...fields, csrf: 'x' })]).toEqual([route, 401]);
      expect([route, await ask(owner, route, { ...fields, csrf: 'x' })]).toEqual([route, 403]);
    }
    expect(wrong).toEqual([]);
  });

  it('holds for keys', async () => {
    const wrong: [string, string, Cell][] = [];
    for (const [route, own, other, body] of ENDPOINTS) {
      const read = route.startsWith('GET') ? own : 403;
      const ofProject = { prj_matrix: own, prj_sibling: other };
      const expected = { own, other, read, ...ofProject, revoked: 401, expired: 401, none: 401 } as const;
      for (const [who, cell] of Object.entries(expected)) {
        const [method = '', path = ''] = [route.split(' ')[0], pathOf(route)];
        const response = await fetch(fixture.platform.baseUrl + path, {
          method,
          headers: {
            ...(keys[who] !== undefined && { authorization: `Bearer ${keys[who]}` }),
            // A session opens no endpoint.
            cookie: [...(people.owner?.cookies ?? [])].map(([name, value]) => `${name}=${value}`).join('; '),
            ...(body && { 'content-type': 'application/json' }),
          },
          ...(body && { body: JSON.stringify(body) }),
        });
        const found = cellOf({ status: response.status, location: null });
        if (found !== cell) wrong.push([who, route, found]);
      }
    }
    for (const route of OPERATOR) {
      for (const token of [undefined, keys.own, 'wrong']) {
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
        const [method = '', path = ''] = [route.split(' ')[0], pathOf(route)];
        const { status } = await fetch(fixture.platform.baseUrl + path, { method, headers });
        if (status !== 401) wrong.push([String(token), route, 'in']);
      }
    }
    expect(wrong).toEqual([]);
    for (const [who, count] of [
      ['own', 1],
      ['prj_matrix', 1],
      ['prj_sibling', 0],
    ] as const) {
      const headers = { authorization: `Bearer ${keys[who]}` };
      const jobs = await fetch(`${fixture.platform.baseUrl}/v1/static-export/jobs`, { headers });
      expect([who, JSON.parse(await jobs.text()).jobs.length]).toEqual([who, count]);
    }
    const listed = await fetch(`${fixture.platform.baseUrl}/admin/keys`, {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
    });
    expect(listed.status).toBe(200);
  });

  it("answers another organization as if what it names weren't there", async () => {
    const { other } = people;
    if (other === undefined) throw new Error('no browser of another organization');
    const csrf = await csrfOf(other);
    const keyHeaders = { authorization: `Bearer ${keys.other}`, 'content-type': 'application/json' };
    const compared: string[] = [];
    for (const [route, , , , cell, fields = {}] of PAGES) {
      const asked = (as: (text: string) => string) =>
        route.startsWith('POST')
          ? other.post(as(pathOf(route)), JSON.parse(as(JSON.stringify({ ...fields, csrf }))))
          : other.get(as(pathOf(route)));
      if (cell === 404) compared.push(await sameAnswer(route, asked));
    }
    for (const [route, , cell, body = {}] of ENDPOINTS) {
      const [method = ''] = route.split(' ');
      const asked = async (as: (text: string) => string) => {
        const init = { method, headers: keyHeaders, ...(method === 'POST' && { body: as(JSON.stringify(body)) }) };
        const response = await fetch(fixture.platform.baseUrl + as(pathOf(route)), init);
        return { status: response.status, text: await response.text() };
      };
      if (cell === 404) compared.push(await sameAnswer(route, asked));
    }
    expect(compared).toContain('POST /v2/agent/:projectId/job');
  });

  /** Compares the answers about what is another organization's and about what isn't there. */
  async function sameAnswer(
    route: string,
    asked: (as: (text: string) => string) => Promise<{ status: number; text: string }>,
  ): Promise<string> {
    const real = [ids.export, ids.agent, ids.key, ids.member, ids.invitation, 'matrix'].filter(
      (id) => id !== undefined,
    );
    // Ids of the same form, which nothing has.
    const invented = (text: string) => real.reduce((all, id) => all.replaceAll(id, `${id.slice(0, -4)}0000`), text);
    const answers = [await asked((text) => text), await asked(invented)].map(({ status, text }) => ({
      status,
      text: text.replaceAll(/nonce="[^"]*"|nonce-[\w-]+/g, ''),
    }));
    expect([route, answers[1]]).toEqual([route, { ...answers[0], text: invented(answers[0]?.text ?? '') }]);
    return route;
  }

  it('gives a new project an id of its own, so that no member learns which ids and domains others have', async () => {
    const { other } = people;
    if (other === undefined) throw new Error('no browser of another organization');
    const csrf = await csrfOf(other);
    const add = (fields: Fields) => other.post('/ui/projects', { csrf, ...fields });
    const added = [
      await add({ domain: 'sibling.example.com', project: 'prj_sibling' }),
      await add({ domain: 'free.example.com' }),
    ];
    for (const { status, location } of added) {
      expect([status, location]).toEqual([303, expect.stringMatching(/^\/ui\/projects\/prj_[0-9a-f]{16}\?/)]);
    }
    const again = await add({ domain: 'sibling.example.com' });
    expect([again.status, again.text]).toEqual([409, expect.not.stringContaining('prj_sibling')]);
    expect((await people.owner?.get('/ui/projects/prj_sibling'))?.status).toBe(200);
  });

  it('shows no member the origin that an operator set', async () => {
    await setProject(fixture.platform.db, { project: 'prj_sibling', origin: 'http://cms.internal:8080' });
    for (const page of ['/ui/projects', '/ui/projects/prj_sibling']) {
      const text = (await people.owner?.get(page))?.text;
      expect(text).toContain('sibling.example.com');
      expect(text).toContain('set by an operator');
      expect(text).not.toContain('cms.internal');
    }
  });

  it('shows the files that agents may change, which only an operator sets', async () => {
    const { owner } = people;
    if (owner === undefined) throw new Error('no browser of the owner');
    const page = '/ui/projects/prj_sibling';
    expect((await owner.get(page)).text).toContain('all files but those that configure CI, and new executables');
    const { db } = fixture.platform;
    await setProject(db, { project: 'prj_sibling', settings: { agentPaths: ['docs/**', '<b>.md'] } });
    const choices = CHOICE_NAMES.map((name) => [name, Object.keys(CHOICES[name].options)[0] ?? '']);
    const fields = { ...Object.fromEntries(choices), domain: 'sibling.example.com', prove: '0', agentPaths: '**' };
    expect((await owner.submit(page, page, fields)).status).toBe(303);
    const { text } = await owner.get(page);
    for (const path of ['docs/**', '&lt;b>.md']) expect(text).toContain(path);
    expect((await getProject(db, 'prj_sibling'))?.settings.agentPaths).toEqual(['docs/**', '<b>.md']);
  });

  it('holds for owner, developer, reviewer and another organization', async () => {
    const wrong: [string, string, Cell, Cell][] = [];
    const columns = ['reviewer', 'other', 'developer', 'owner'] as const;
    for (const [route, owner, developer, reviewer, other, fields = {}] of [...DECISIONS, ...PAGES]) {
      const expected = { owner, developer, reviewer, other };
      for (const who of columns) {
        const browser = people[who];
        if (browser === undefined) throw new Error(who);
        const csrf = route.startsWith('POST') ? await csrfOf(browser) : '';
        const cell = await ask(browser, route, { ...fields, csrf });
        if (route === 'POST /ui/account/end-sessions') {
          await browser.post('/ui/sign-in', { to: '', email: `${who}@example.com`, password: PASSWORD });
          tokens.delete(browser);
        }
        if (cell !== expected[who]) wrong.push([who, route, cell, expected[who]]);
      }
    }
    expect(wrong).toEqual([]);
  });
});
