import pino from 'pino';
import { OPERATOR_TOKEN } from '../../helpers/platform-api.ts';
import { BRANCH, type ForgeFixture, type ForgeResponse, startForgeFixture } from './forge-fixture.ts';

const ADA = 'ada@example.com';
const DAY_MS = 24 * 3_600_000;

describe('the review link of one reviewer for one pull request', () => {
  let fixture: ForgeFixture;
  const lines: string[] = [];

  beforeAll(async () => {
    fixture = await startForgeFixture(pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }));
  });
  afterAll(() => fixture?.stop());

  async function proposal() {
    const repository = await fixture.createProject({ webhookUrl: 'http://127.0.0.1:9/' });
    await repository.commit(BRANCH, { 'README.md': '# Our handbook\n' });
    return { repository, opened: await fixture.open(repository) };
  }

  /** Requests the link as the orchestrator does before it sends the mail. */
  async function linkFor(url: string, reviewer = ADA): Promise<URL> {
    const { status, json } = await fixture.post(`${url}/review_links`, { json: { reviewer } });
    expect([status, json]).toEqual([201, { url: expect.any(String), expires_at: expect.any(String) }]);
    return new URL(String(json.url));
  }
  const keyOf = (link: URL) => link.searchParams.get('key') ?? '';

  /** Opens the link. `cookieHeader` is what a browser sends afterwards. */
  async function openLink(link: URL) {
    const response = await fixture.get(link.href, 'text/html');
    const setCookie = response.headers.get('set-cookie') ?? '';
    return { response, setCookie, cookieHeader: setCookie.split(';')[0] ?? '' };
  }
  async function pageWith(url: string, cookie: string): Promise<ForgeResponse> {
    const response = await fetch(url, { headers: { accept: 'text/html', cookie } });
    return { status: response.status, headers: response.headers, text: await response.text(), json: {} };
  }
  const formOf = (text: string) => /name="token" value="([^"]+)"/.exec(text)?.[1] ?? 'the page has no token';

  const asReviewer = (url: string, token: string, json: object = {}) =>
    fixture.post(url, { token, json, accept: 'application/json' });

  it('sets a cookie, redirects to a URL without the key, and lets the page act as that reviewer', async () => {
    const { opened, repository } = await proposal();
    const link = await linkFor(opened.url);
    // The pull request's link alone doesn't show the address of a reviewer without a review.
    expect((await fixture.get(opened.url, 'text/html')).text).not.toContain(ADA);
    expect((await fixture.get(opened.url)).text).not.toContain(ADA);
    expect(link.href.startsWith(`${opened.url}/review?key=`)).toBe(true);
    const { response, setCookie, cookieHeader } = await openLink(link);
    const id = opened.url.split('/').at(-1);
    expect([response.status, response.headers.get('location')]).toEqual([303, `../${id}`]);
    expect(response.headers.get('referrer-policy')).toBe('same-origin');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(setCookie).toMatch(new RegExp(`; Path=/pulls/${id};.*; HttpOnly; SameSite=Lax$`));
    expect(Number(/Max-Age=(\d+)/.exec(setCookie)?.[1])).toBeLessThanOrEqual(12 * 3600);

    const { text } = await pageWith(opened.url, cookieHeader);
    expect(text).toContain('You act as <bdi>ada@example.com</bdi>');
    expect(text).not.toContain('Operator token');
    const token = formOf(text);
    const accept = 'text/html';
    const form = { event: 'APPROVE', body: 'Good.', token };
    expect((await fixture.post(`${opened.url}/reviews`, { token: '', form, accept })).status).toBe(303);
    expect((await fixture.post(`${opened.url}/merge`, { token: '', form: { token }, accept })).status).toBe(303);
    expect(await repository.git('show', 'main:README.md')).toBe('# Our handbook');
    expect(JSON.parse((await fixture.get(`${opened.url}/reviews`)).text)).toMatchObject([
      { state: 'APPROVED', user: { login: ADA }, body: 'Good.' },
    ]);
    expect((await fixture.get(opened.url)).json).toMatchObject({ merged: true, merged_by: { login: ADA } });
    expect((await pageWith(opened.url, '')).text).toMatch(/merged into .* by <bdi>ada@example\.com<\/bdi>/);
    const deliveries = await fixture.platform.db.pool.query(
      'select event, body_json from forge_deliveries order by sequence',
    );
    const senders = deliveries.rows.map((row) => [row.event, JSON.parse(row.body_json).sender.login]);
    expect(senders).toEqual([
      ['pull_request', 'galley'],
      ['pull_request_review', ADA],
      ['pull_request', ADA],
      ['push', ADA],
    ]);
  });

  it('lets a program comment, request changes and close with its key as a bearer token', async () => {
    const { opened } = await proposal();
    const key = keyOf(await linkFor(opened.url));
    for (const event of ['COMMENT', 'REQUEST_CHANGES', 'APPROVE'])
      expect((await asReviewer(`${opened.url}/reviews`, key, { event })).json).toMatchObject({ user: { login: ADA } });
    const { status, json } = await asReviewer(`${opened.url}/close`, key);
    expect([status, json]).toMatchObject([200, { state: 'closed', merged: false }]);
  });

  it("grants nothing else: no other pull request, no other name, no operator's request", async () => {
    const { opened } = await proposal();
    const other = await proposal();
    const link = await linkFor(opened.url);
    const key = keyOf(link);
    for (const path of ['merge', 'close', 'reviews']) {
      const { status, json } = await asReviewer(`${other.opened.url}/${path}`, key, { event: 'APPROVE' });
      expect([path, status, json.error]).toEqual([
        path,
        403,
        expect.stringContaining('not valid for this pull request'),
      ]);
    }
    expect((await fixture.get(`${other.opened.url}/review?key=${key}`, 'text/html')).status).toBe(403);
    expect((await pageWith(other.opened.url, (await openLink(link)).cookieHeader)).text).toContain('Operator token');
    expect((await fixture.get(other.opened.url)).json).toMatchObject({ state: 'open' });

    const forged = await asReviewer(`${opened.url}/reviews`, key, { event: 'APPROVE', reviewer: 'grace' });
    expect([forged.status, forged.json.error]).toEqual([403, expect.stringContaining(ADA)]);
    for (const [path, body] of [
      ['requested_reviewers', { reviewers: ['grace'] }],
      ['review_links', { reviewer: 'grace@example.com' }],
    ] as const) {
      expect([path, (await asReviewer(`${opened.url}/${path}`, key, body)).status]).toEqual([path, 403]);
    }
    const admin = `${fixture.platform.baseUrl}/admin/organizations`;
    expect((await fixture.post(admin, { token: key, json: { name: 'x' } })).status).toBe(401);
  });

  it('grants nothing by its cookie alone, which another site could make a browser send', async () => {
    const { opened } = await proposal();
    const { cookieHeader } = await openLink(await linkFor(opened.url));
    const headers = { accept: 'text/html', cookie: cookieHeader, 'content-type': 'application/x-www-form-urlencoded' };
    expect((await fetch(`${opened.url}/merge`, { method: 'POST', headers, body: '' })).status).toBe(401);
  });

  it('is rejected with an explanation if it was changed, has expired, or was truncated', async () => {
    const { opened } = await proposal();
    const link = await linkFor(opened.url);
    const key = keyOf(link);
    const [expiry = '', name = '', signature = ''] = key.slice('review_'.length).split('.');
    const later = (Number.parseInt(expiry, 36) + 1).toString(36);
    const grace = Buffer.from('grace@example.com').toString('base64url');
    const wrong = [
      `review_${later}.${name}.${signature}`,
      `review_${expiry}.${grace}.${signature}`,
      `review_${expiry}.${name}.${signature.slice(0, -1)}${signature.endsWith('A') ? 'E' : 'A'}`,
      `review_${expiry}.${name}.`,
      key.slice(0, -1),
      'review_',
      OPERATOR_TOKEN,
      '',
    ];
    for (const each of wrong) {
      const { status, text, headers } = await fixture.get(`${opened.url}/review?key=${each}`, 'text/html');
      expect([each, status, headers.get('set-cookie')]).toEqual([each, 403, null]);
      expect(text).toContain('not valid for this pull request: open the one in your newest mail');
      expect(text).toMatch(/href="\/ui\/assets\/galley\.\w+\.css"/);
      if (each.startsWith('review_')) expect((await asReviewer(`${opened.url}/merge`, each)).status).toBe(403);
    }
    const { cookieHeader } = await openLink(link);
    fixture.platform.advance(31 * DAY_MS);
    const expired = await fixture.get(link.href, 'text/html');
    expect([expired.status, expired.text]).toEqual([410, expect.stringContaining('has expired')]);
    expect((await asReviewer(`${opened.url}/merge`, key)).status).toBe(410);
    expect((await pageWith(opened.url, cookieHeader)).text).toContain('Operator token');
    expect((await asReviewer(`${opened.url}/merge`, keyOf(await linkFor(opened.url)))).status).toBe(200);
  });

  it.each(['merge', 'close'])('ends with the pull request (%s), and no new link is created', async (end) => {
    const { opened } = await proposal();
    const link = await linkFor(opened.url);
    await fixture.post(`${opened.url}/${end}`);
    const word = end === 'merge' ? 'merged' : 'closed';
    const { status, text } = await fixture.get(link.href, 'text/html');
    expect([status, text]).toEqual([410, expect.stringContaining(`The pull request is ${word}`)]);
    expect(text).toContain(`href="../${opened.url.split('/').at(-1)}"`);
    expect((await asReviewer(`${opened.url}/reviews`, keyOf(link), { event: 'APPROVE' })).status).toBe(410);
    expect((await fixture.post(`${opened.url}/review_links`, { json: { reviewer: ADA } })).status).toBe(409);
    const { rows } = await fixture.platform.db.pool.query('select review_key from pull_requests where id = $1', [
      opened.url.split('/').at(-1),
    ]);
    expect(rows).toEqual([{ review_key: null }]);
  });

  it('is created only for the operator, for one email address, and is the same all day', async () => {
    const { opened } = await proposal();
    const links = `${opened.url}/review_links`;
    const { key } = await fixture.platform.addCustomer();
    for (const [token, status] of [
      ['', 401],
      ['wrong', 401],
      [key, 403],
    ] as const)
      expect((await fixture.post(links, { token, json: { reviewer: ADA } })).status).toBe(status);
    for (const reviewer of ['ada', 'a b@example.com', '', 7])
      expect((await fixture.post(links, { json: { reviewer } })).status).toBe(400);
    expect((await linkFor(opened.url)).href).toBe((await linkFor(opened.url)).href);
    expect((await linkFor(opened.url, 'grace@example.com')).href).not.toBe((await linkFor(opened.url)).href);
  });

  it('does not appear in the log', async () => {
    const { opened } = await proposal();
    const link = await linkFor(opened.url);
    await openLink(link);
    await asReviewer(`${opened.url}/merge`, keyOf(link));
    await fixture.get(link.href, 'text/html');
    const log = lines.join('');
    expect(log).toContain('"path":"/pulls/…/review"');
    expect(log).not.toContain(keyOf(link));
    expect(log).not.toContain('?key=');
    expect(log).not.toContain(ADA);
  });
});
