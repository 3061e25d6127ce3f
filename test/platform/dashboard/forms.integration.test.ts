import { setProject } from '../../../platform/admin/projects.ts';
import { CHOICE_NAMES, CHOICES } from '../../../platform/dashboard/projects/project-form.ts';
import type { Browser } from './browser.ts';
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
});
