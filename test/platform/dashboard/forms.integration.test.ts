import { sql } from 'drizzle-orm';
import { createKey } from '../../../platform/admin/api-keys.ts';
import { setProject } from '../../../platform/admin/projects.ts';
import { CHOICE_NAMES, CHOICES } from '../../../platform/dashboard/projects/project-form.ts';
import { type Browser, createKeyOnPage } from './browser.ts';
import { type DashboardFixture, PASSWORD, startDashboard } from './dashboard-fixture.ts';

const KEYS = '/ui/settings/keys';
const DOMAIN = 'docs.example.com';

describe('the forms of the dashboard', () => {
  let fixture: DashboardFixture;
  let owner: Browser;
  let project: string;

  beforeAll(async () => {
    fixture = await startDashboard();
    owner = await fixture.setUp('ada@example.com', 'Handbook');
    await owner.submit('/ui/projects', '/ui/projects', { domain: 'taken.example.com' });
    const { location } = await owner.submit('/ui/projects', '/ui/projects', { domain: DOMAIN });
    project = /prj_\w+/.exec(location ?? '')?.[0] ?? '';
    await setProject(fixture.platform.db, { project, repository: 'https://git.example.com/docs.git' });
  });
  afterAll(() => fixture?.stop());

  const settings = () =>
    Object.fromEntries(CHOICE_NAMES.map((name) => [name, Object.keys(CHOICES[name].options)[1] ?? '']));

  /** What the page of a rejected form says at each field. */
  function errorsOf(text: string): Record<string, string> {
    const found = text.matchAll(/id="field-([\w-]+)-error">([^<]*)</g);
    return Object.fromEntries([...found].map(([, name = '', error = '']) => [name, error]));
  }

  test.each([
    ['/ui/projects', '/ui/projects', { domain: 'no domain' }, { domain: /expected/ }],
    ['/ui/exports', '/ui/exports', { domain: DOMAIN, version: 'a version' }, { version: /./ }],
    ['/ui/agents', '/ui/agents', { prompt: 'x'.repeat(100_001) }, { prompt: /./ }],
    [
      KEYS,
      KEYS,
      { name: 'CI for <b>', days: '0', addresses: '10.0.0.300' },
      { days: /./, addresses: /203\.0\.113\.7/ },
    ],
    ['/ui/settings/members', '/ui/settings/members', { email: 'bob', role: 'developer' }, { email: /ada@example/ }],
    ['/ui/account', '/ui/account/password', { current: 'a wrong one', new: 'short' }, { new: /12|characters/ }],
  ])('%s: %s returns with the input and the errors at the fields', async (page, action, fields, errors) => {
    const asked = action === '/ui/agents' ? { ...fields, project } : fields;
    const { status, text } = await owner.submit(page, action, asked);
    expect([status, errorsOf(text)]).toEqual([
      400,
      Object.fromEntries(Object.entries(errors).map(([name, error]) => [name, expect.stringMatching(error)])),
    ]);
    expect(text).toContain('aria-invalid="true"');
    for (const [name, value] of Object.entries(fields)) {
      const shown = value.replaceAll('<', '&lt;');
      const isShown = text.includes(`"${shown}"`) || text.includes(`>${shown}</textarea>`);
      expect([name, isShown]).toEqual([name, page !== '/ui/account']);
    }
  });

  it('return with choices, and with a message for the whole form, and nothing is changed', async () => {
    const page = `/ui/projects/${project}`;
    const fields = { ...settings(), domain: 'taken.example.com', prove: '7' };
    const { status, text } = await owner.submit(page, page, fields);
    expect([status, Object.keys(errorsOf(text))]).toEqual([409, ['domain']]);
    for (const value of ['taken.example.com', '7']) expect(text).toContain(`value="${value}"`);
    expect(text).toMatch(/<option [^>]*selected[^>]*>Leave them as links/);
    expect((await owner.get(page)).text).toContain(`value="${DOMAIN}"`);
  });

  it('show a new key once, to the session that made it, and a reload makes no second one', async () => {
    const answer = await owner.submit(KEYS, KEYS, { name: 'CI' });
    expect([answer.status, answer.location, answer.text]).toEqual([
      303,
      KEYS,
      expect.not.stringMatching(/galley_[\w-]{49}/),
    ]);
    const cookie = answer.headers.getSetCookie().find((each) => each.startsWith('galley_new_key='));
    expect(cookie).toMatch(/; Path=\/ui\/settings\/keys;.*HttpOnly; SameSite=Strict/);
    const sealed = owner.cookies.get('galley_new_key') ?? '';
    const other = fixture.browser();
    await other.post('/ui/sign-in', { to: '', email: 'ada@example.com', password: PASSWORD });
    for (const value of [sealed, 'x', `${sealed.slice(0, -2)}AA`]) {
      other.cookies.set('galley_new_key', value);
      const stranger = await other.get(KEYS);
      expect([stranger.status, stranger.text]).toEqual([200, expect.not.stringContaining('The new key')]);
    }
    const shown = /galley_[\w-]{49}/.exec((await owner.get(KEYS)).text)?.[0] ?? '';
    const headers = { authorization: `Bearer ${shown}` };
    expect((await fetch(`${fixture.platform.baseUrl}/v1/static-export/jobs`, { headers })).status).toBe(200);
    expect((await owner.get(KEYS)).text).not.toContain(shown);
  });

  const status = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`${fixture.platform.baseUrl}/v1/static-export/jobs`, { headers })).status;
  };

  it('replace a key by one with the same limits, and both are valid until the old one ends', async () => {
    const { db } = fixture.platform;
    const old = await createKeyOnPage(owner, { name: 'Rotated', days: '30', addresses: '127.0.0.0/8', scope: 'read' });
    const row = async (key: string) => {
      const prefix = key.slice(0, 13);
      const { rows } = await db.execute(sql`
        select id, name, read_only, allowed_addresses, project_id,
          round(extract(epoch from expires_at - created_at) / 86400)::int as days
        from api_keys where prefix = ${prefix}`);
      return rows[0] ?? {};
    };
    const { id, ...limits } = await row(old);
    const rotate = `${KEYS}/${String(id)}/rotate`;
    expect((await owner.submit(rotate, rotate, { days: '0' })).text).toContain('id="field-days-error"');
    expect((await owner.submit(rotate, rotate, { days: '7' })).location).toBe(KEYS);
    const next = /galley_[\w-]{49}/.exec((await owner.get(KEYS)).text)?.[0] ?? '';
    expect(await row(next)).toEqual({ ...limits, id: expect.not.stringMatching(String(id)) });
    expect([limits.days, (await row(old)).days]).toEqual([30, 7]);
    expect([await status(old), await status(next)]).toEqual([200, 200]);
    await db.execute(sql`update api_keys set expires_at = now() where id = ${id}`);
    expect([await status(old), await status(next)]).toEqual([401, 200]);
    // An ended key is not replaced, and another overlap never prolongs one.
    expect((await owner.submit(rotate, rotate, { days: '7' })).status).toBe(409);
  });

  it('rename the organization, whose members and keys stay', async () => {
    const page = '/ui/settings/members';
    await createKey(fixture.platform.db, { organization: 'Taken' });
    const taken = await owner.submit(page, `${page}/organization`, { name: 'Taken' });
    expect([taken.status, errorsOf(taken.text)]).toEqual([409, { name: 'there is another organization Taken' }]);
    expect((await owner.submit(page, `${page}/organization`, { name: ' Manual ' })).status).toBe(303);
    expect((await owner.get(page)).text).toContain('<bdi>Manual</bdi>, plan');
  });

  it('filter the audit log by person and day, and export it as CSV without formulas', async () => {
    const { db } = fixture.platform;
    const audit = '/ui/settings/audit';
    await db.execute(sql`
      insert into audit_log (organization_id, at, actor_kind, actor_id, actor_name, action, target, detail)
      select organization_id, day::timestamptz, 'member', 'eve', 'eve@example.com', 'project.set', 'target ' || day, '=1+"1"'
      from members, unnest(array['2026-01-30T23:59:59Z', '2026-01-31T00:00:00Z', '2026-01-31T23:59:59Z', '2026-02-01T00:00:00Z']) day`);
    const query = '?person=eve%40example.com&from=2026-01-31&to=2026-01-31';
    const targets = (text: string) => text.match(/target 2026[^<",]*/g);
    const both = ['target 2026-01-31T23:59:59Z', 'target 2026-01-31T00:00:00Z'];
    const shown = (await owner.get(audit + query)).text;
    expect(targets(shown)).toEqual(both);
    expect(shown).toContain('value="2026-01-31"');
    const { text, headers } = await owner.get(`${audit}/audit-log.csv${query}`);
    expect(headers.get('content-type')).toMatch(/^text\/csv/);
    const lines = text.trimEnd().split('\r\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toBe('at,actorKind,actorName,action,target,detail');
    expect(lines[1]).toBe(
      `"2026-01-31T23:59:59.000Z","member","eve@example.com","project.set","${both[0]}","'=1+""1"""`,
    );
    expect((await owner.get(`${audit}?from=2026-02-01&person=eve%40example.com`)).text).toContain('target 2026-02-01');
    const whole = await owner.get(`${audit}/audit-log.csv`);
    expect(whole.text.split('\r\n').length).toBeGreaterThan(8);
    for (const path of [audit, `${audit}/audit-log.csv`]) {
      const wrong = await owner.get(`${path}?to=2026-02-31`);
      expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('To: expected a date')]);
    }
  });
});
