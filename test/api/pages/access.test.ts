import { createSignInLinks, type OwnersDashboard } from '../../../web/sign-in-links.ts';
import { configWith, OPERATOR_TOKEN, startRecordingApi } from '../running-api.ts';

const links = createSignInLinks();
let atMs = Date.now();
/** How long each wrong token was held up. */
const waits: number[] = [];
const wait = async (ms: number) => void waits.push(ms);
const config = configWith({ handbook: { agent: [{ name: 'changelog', on: 'publish', prompt: 'Update' }] } });
/** The owners at the dashboard of the same `galley up`. */
const owners = new Set(['user-1']);
const dashboard: OwnersDashboard = {
  open: (to, { id, name }) => `http://dashboard${to}#${id},${name}`,
  isOwner: async (id) => owners.has(id),
};
const api = await startRecordingApi(config, {}, { signInLinks: links, dashboard, now: () => new Date(atMs), wait });
const behindProxy = await startRecordingApi(config, {}, { trustedProxies: ['127.0.0.0/8'], wait });
const withoutToken = await startRecordingApi(config, {}, { operatorToken: undefined });

afterAll(async () => {
  await api.stop();
  await behindProxy.stop();
  await withoutToken.stop();
});

type RequestOptions = {
  cookie?: string;
  headers?: Record<string, string>;
  form?: Record<string, string>;
  base?: string;
};

async function send(path: string, { cookie, headers = {}, form, base = api.url }: RequestOptions = {}) {
  const response = await fetch(base + path, {
    redirect: 'manual',
    headers: { ...headers, ...(cookie !== undefined && { cookie }) },
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  });
  const setCookie = response.headers.get('set-cookie');
  return {
    status: response.status,
    location: response.headers.get('location'),
    setCookie,
    cookie: setCookie?.split(';')[0],
    headers: response.headers,
    text: await response.text(),
  };
}

async function signIn(fields: Record<string, string> = {}, headers: Record<string, string> = {}, base = api.url) {
  return await send('/ui/sign-in', { form: { name: 'Ada', token: OPERATOR_TOKEN, ...fields }, headers, base });
}

async function session(): Promise<{ cookie: string; csrf: string }> {
  const { cookie = '' } = await signIn();
  const page = await send('/ui/sites/handbook', { cookie });
  return { cookie, csrf: /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '' };
}

const PAGES = [
  ...['/', '/ui/events', '/ui/sites/handbook', '/ui/sites/handbook/events'],
  ...['/ui/sites/handbook/rules/changelog', '/ui/sites/handbook/rules/changelog/events'],
  ...['/ui/changes/agent:handbook:changelog:1', '/ui/changes/agent:handbook:changelog:1/events'],
];
const FORMS = [
  ...['export', 'refresh', 'pause', 'resume', 'lock', 'unlock', 'approve', 'reject', 'rollback', 'remove', 'run-again'],
].map((action) => `/ui/sites/handbook/${action}`);

describe('signing in', () => {
  it('sets a cookie that scripts and other sites cannot use, and redirects to the requested page', async () => {
    const response = await signIn({ to: '/ui/sites/handbook' });
    expect(response).toMatchObject({ status: 303, location: '/ui/sites/handbook' });
    expect(response.setCookie).toMatch(/^galley_session=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict$/);
  });

  it('has a cookie over HTTPS that no other host can set', async () => {
    const https = { 'x-forwarded-proto': 'https' };
    const { setCookie, cookie = '' } = await signIn({}, https);
    expect(setCookie).toMatch(/^__Host-galley_session=[\w.-]+; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
    const page = '/ui/sites/handbook';
    expect((await send(page, { cookie, headers: https })).status).toBe(200);
    expect((await send(page, { cookie: cookie.replace('__Host-', ''), headers: https })).status).toBe(303);
  });

  test.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/sites',
    'javascript:alert(1)',
    '/ui/sign-out',
  ])('never redirects to %s', async (to) => {
    expect(await signIn({ to })).toMatchObject({ status: 303, location: '/' });
  });

  it('rejects a wrong token and a missing name on the same page', async () => {
    const wrong = await signIn({ token: `${OPERATOR_TOKEN}x` });
    expect(wrong).toMatchObject({ status: 401, setCookie: null });
    expect(wrong.text).toContain('This is not the operator token');
    expect(wrong.text).not.toContain(`${OPERATOR_TOKEN}x`);
    expect(await signIn({ name: '<b>' })).toMatchObject({ status: 400, setCookie: null });
  });

  it('rejects a form from another site', async () => {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ]) {
      expect(await signIn({}, headers)).toMatchObject({ status: 403, setCookie: null });
    }
    expect(await signIn({}, { origin: api.url })).toMatchObject({ status: 303 });
    expect(await signIn({}, { 'sec-fetch-site': 'same-origin', origin: 'https://public.example' })).toMatchObject({
      status: 303,
    });
  });

  it('works once with a sign-in link, after a confirmation page', async () => {
    const link = links.create();
    const page = await send(`/ui/sign-in?link=${link}`);
    expect(page).toMatchObject({ status: 200, setCookie: null });
    expect(page.text).not.toContain('name="token"');
    const signed = await signIn({ token: '', link });
    expect(signed.cookie).toBeDefined();
    expect(await signIn({ token: '', link })).toMatchObject({ status: 303, setCookie: null });
    expect((await send(`/ui/sign-in?link=${link}`)).text).toContain('was used or has expired');
  });

  it('by an owner ends when they no longer are one, and never becomes the first owner at the dashboard', async () => {
    const person = { id: 'user-1', name: 'Ada' };
    const link = links.create(person);
    expect((await send(`/ui/sign-in?link=${link}`)).text).toContain('value="Ada"');
    const { cookie = '' } = await signIn({ token: '', link });
    const to = '/ui/exports/se_1';
    const opened = await send(`/ui/open-dashboard?to=${to}`, { cookie });
    expect(opened).toMatchObject({ status: 303, location: `http://dashboard${to}#user-1,Ada` });
    expect((await send('/ui/open-dashboard?to=//evil.example', { cookie })).location).toBe(
      'http://dashboard/#user-1,Ada',
    );
    owners.clear();
    expect(await send('/ui/sites/handbook', { cookie })).toMatchObject({ status: 303 });
    owners.add('user-1');
    expect(await send('/ui/sites/handbook', { cookie })).toMatchObject({ status: 303 });
    expect(await send('/ui/sign-in', { cookie })).toMatchObject({ status: 200 });
    const operator = await signIn();
    const byToken = await send('/ui/open-dashboard', { cookie: operator.cookie ?? '' });
    expect(byToken.location).toBe('http://dashboard/#undefined,Ada');
  });

  it('leads to no dashboard where there is none, and not without a session', async () => {
    const { cookie = '' } = await signIn({}, {}, behindProxy.url);
    const page = await send('/ui/sites/handbook', { cookie, base: behindProxy.url });
    expect(page.text).not.toContain('/ui/open-dashboard');
    expect(await send('/ui/open-dashboard', { cookie, base: behindProxy.url })).toMatchObject({ status: 404 });
    expect(await send('/ui/open-dashboard')).toMatchObject({
      status: 303,
      location: expect.stringMatching(/^\/ui\/sign-in/),
    });
  });

  it('is slowed after ten wrong tokens, which never reject the right one', async () => {
    await signIn();
    for (let count = 0; count < 16; count += 1) expect((await signIn({ token: 'wrong' })).status).toBe(401);
    expect(waits.splice(0)).toEqual([250, 250, 250, 250, 250, 500]);
    expect(await signIn()).toMatchObject({ status: 303 });
    await signIn({ token: 'wrong' });
    expect(waits).toEqual([]);
  });

  it('counts by the client network that a trusted proxy names, and believes no one else', async () => {
    const wrongFrom = async (address: string, base: string) => {
      const headers = { 'x-forwarded-for': `192.0.2.1, ${address}` };
      await send('/ui/sign-in', { form: { name: 'Ada', token: 'wrong' }, headers, base });
    };
    for (let count = 0; count < 10; count += 1) await wrongFrom('203.0.113.7:4711', behindProxy.url);
    await wrongFrom('198.51.100.7', behindProxy.url);
    expect(waits).toEqual([]);
    await wrongFrom('203.0.113.99', behindProxy.url);
    expect(waits.splice(0)).toEqual([250]);
    for (let count = 0; count < 10; count += 1) await wrongFrom(`198.51.${count}.7`, api.url);
    expect(waits.splice(0)).toEqual([250]);
  });

  it('is disabled without OPERATOR_TOKEN, and names that variable', async () => {
    const page = await send('/ui/sign-in', { base: withoutToken.url });
    expect(page.text).toContain('OPERATOR_TOKEN');
    expect(page.text).not.toContain('<form');
    expect(
      await send('/ui/sign-in', { base: withoutToken.url, form: { name: 'Ada', token: 'undefined' } }),
    ).toMatchObject({ status: 403 });
    expect(await send('/', { base: withoutToken.url })).toMatchObject({ status: 303, location: '/ui/sign-in?to=%2F' });
  });
});

describe('without a session', () => {
  test.each(PAGES)('%s redirects to the sign-in page', async (path) => {
    const location = `/ui/sign-in?to=${encodeURIComponent(path)}`;
    expect(await send(path)).toMatchObject({ status: 303, location });
    expect(await send(path, { cookie: 'galley_session=x.y' })).toMatchObject({ status: 303, location });
  });

  test.each(FORMS)('%s does nothing', async (path) => {
    expect(await send(path, { form: { csrf: '' } })).toMatchObject({ status: 303, location: '/ui/sign-in' });
    const { cookie, csrf } = await session();
    atMs += 8 * 60 * 60 * 1000;
    expect(await send(path, { cookie, form: { csrf } })).toMatchObject({ status: 303, location: '/ui/sign-in' });
  });

  it('the JSON routes still need the bearer token', async () => {
    const { cookie } = await session();
    expect(await send('/sites', { cookie })).toMatchObject({ status: 401 });
    expect(await send('/sites/handbook', { cookie })).toMatchObject({ status: 401 });
    expect(await send('/sites/handbook/pause', { cookie, form: {} })).toMatchObject({ status: 401 });
  });
});

describe('with a session', () => {
  test.each(FORMS)('%s needs the CSRF token of this session and this origin', async (path) => {
    const [{ cookie, csrf }, other] = [await session(), await session()];
    expect(csrf).not.toBe('');
    for (const wrong of ['', 'x', other.csrf]) {
      expect(await send(path, { cookie, form: { csrf: wrong } })).toMatchObject({ status: 403 });
    }
    expect(await send(path, { cookie, form: { csrf }, headers: { origin: 'https://evil.example' } })).toMatchObject({
      status: 403,
    });
    expect(await send(path, { cookie, headers: { 'sec-fetch-site': 'cross-site' }, form: { csrf } })).toMatchObject({
      status: 403,
    });
  });

  it('shows a site that was never published, and a 404 page for an unknown site', async () => {
    const { cookie } = await session();
    const page = await send('/ui/sites/handbook', { cookie });
    expect(page).toMatchObject({ status: 200 });
    expect(page.text).toContain('Not published');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    for (const path of [
      '/ui/sites/other',
      '/ui/sites/constructor/rules/x',
      '/ui/sites/a%2fb',
      '/ui/nothing',
      '/ui/changes/agent:handbook:changelog:1',
      '/ui/changes/export:handbook',
    ]) {
      const missing = await send(path, { cookie });
      expect(missing).toMatchObject({ status: 404 });
      expect(missing.headers.get('content-type')).toBe('text/html; charset=utf-8');
    }
  });

  it('asks for a reason before it locks a site', async () => {
    const { cookie } = await session();
    const page = await send('/ui/sites/handbook/lock', { cookie });
    expect(page.text).toContain('Lock handbook?');
    expect(page.text).toContain('name="reason"');
  });

  it('asks for confirmation before a removal', async () => {
    const { cookie } = await session();
    const page = await send('/ui/sites/handbook/remove', { cookie });
    expect(page.text).toContain('Remove handbook?');
  });

  it('reports Temporal as unavailable on a page', async () => {
    const { cookie } = await session();
    expect(await send('/', { cookie })).toMatchObject({ status: 503 });
  });

  it('ends with signing out, even if the cookie is kept', async () => {
    const { cookie, csrf } = await session();
    expect(await send('/ui/sign-out', { cookie, form: { csrf: 'wrong' } })).toMatchObject({ status: 403 });
    const signedOut = await send('/ui/sign-out', { cookie, form: { csrf } });
    expect(signedOut).toMatchObject({ status: 303, location: '/ui/sign-in' });
    expect(signedOut.setCookie).toContain('Max-Age=0');
    expect(await send('/', { cookie })).toMatchObject({ status: 303, location: '/ui/sign-in?to=%2F' });
  });

  it('logs neither the token nor a cookie', async () => {
    const { cookie } = await session();
    const log = api.log.join('\n');
    expect(log).not.toContain(`"${OPERATOR_TOKEN}"`);
    expect(log).not.toContain(cookie.slice('galley_session='.length));
  });
});
