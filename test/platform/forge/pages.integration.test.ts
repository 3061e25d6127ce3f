import { Parser } from 'htmlparser2';
import pino from 'pino';
import { OPERATOR_TOKEN } from '../../helpers/platform-api.ts';
import { BRANCH, type ForgeFixture, startForgeFixture } from './forge-fixture.ts';

const VOID = new Set(['meta', 'link', 'input', 'br']);

/** Every element of a page with its attributes. Fails if a tag is not closed, or closed in the wrong order. */
function elementsOf(page: string): { name: string; attributes: Record<string, string> }[] {
  const elements: { name: string; attributes: Record<string, string> }[] = [];
  const open: string[] = [];
  const wrong: string[] = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      elements.push({ name, attributes });
      if (!VOID.has(name)) open.push(name);
    },
    onclosetag(name, implied) {
      if (VOID.has(name)) return;
      if (implied || open.pop() !== name) wrong.push(name);
    },
  });
  parser.end(page);
  expect([wrong, open]).toEqual([[], []]);
  return elements;
}

const BLOCKS = new Set(['div', 'p', 'h1', 'h2', 'h3', 'td', 'th', 'summary']);

/** What the page says, with a space before each block. */
function textOf(page: string): string {
  let text = '';
  const parser = new Parser({
    onopentagname: (name) => (text += BLOCKS.has(name) ? ' ' : ''),
    ontext: (part) => (text += part),
  });
  parser.end(page);
  return text;
}

/** The commits that the page's forms decide about. */
function headsOf(page: string): (string | undefined)[] {
  return elementsOf(page).flatMap(({ attributes }) => (attributes.name === 'head' ? [attributes.value] : []));
}

describe('the page of a pull request', () => {
  let fixture: ForgeFixture;
  const lines: string[] = [];

  beforeAll(async () => {
    fixture = await startForgeFixture(pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }));
  });
  afterAll(() => fixture?.stop());

  const page = (url: string) => fixture.get(url, 'text/html,application/xhtml+xml,*/*;q=0.8');

  async function proposal(
    files: Record<string, string | Uint8Array | null>,
    texts: { title?: string; body?: string } = {},
  ) {
    const repository = await fixture.createProject({
      files: { 'README.md': '# Handbook\n\nRead this first.\n', 'logo.png': Buffer.from([0, 1, 2]), 'old.md': 'Old\n' },
    });
    await repository.commit(BRANCH, files, texts.title ?? 'Change it');
    return { repository, opened: await fixture.open(repository, texts) };
  }

  it('is public to anyone with the link, and shows everything', async () => {
    const { opened, repository } = await proposal({ 'README.md': '# Our handbook\n\nRead this first.\n' });
    await fixture.post(`${opened.url}/requested_reviewers`, {
      json: { reviewers: ['grace'], team_reviewers: ['docs'] },
    });
    await fixture.post(`${opened.url}/reviews`, {
      json: { event: 'APPROVE', reviewer: 'ada', body: 'Good.\nThanks.' },
    });
    const { status, headers, text } = await page(opened.url);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const content = textOf(text).replaceAll(/\s+/g, ' ');
    for (const part of [
      'Name the handbook #1',
      'Open galley asks to merge 1 commit into main from galley/aj_0123456789abcdef',
      'As asked.',
      'ada approved',
      'Good. Thanks.',
      'grace is asked for a review',
      'team docs is asked for a review',
      'Change it Ada 20',
      (await repository.git('rev-parse', '--short=10', BRANCH)).trim(),
      '+1 −1 README.md',
      '# Our handbook',
    ]) {
      expect(content).toContain(part);
    }
    elementsOf(text);
  });

  it('forbids scripts, framing, caching and search engines', async () => {
    const { opened } = await proposal({ 'new.md': 'New\n' });
    for (const response of [await page(opened.url), await page(`${opened.url}0`), await fixture.get(opened.url)]) {
      expect(response.headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
          "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      );
      expect(response.headers.get('referrer-policy')).toBe('same-origin');
      expect(response.headers.get('x-robots-tag')).toMatch('noindex');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
    const { text } = await page(opened.url);
    const elements = elementsOf(text);
    const links = elements.flatMap(({ attributes: { href, src, action, formaction } }) => [
      href,
      src,
      action,
      formaction,
    ]);
    const outside = links.filter(
      (link) =>
        link !== undefined &&
        !/^(#[\w-]+|\/|\/ui\/assets\/(galley|favicon)\.[0-9a-f]{12}\.(css|svg)|pr_[0-9a-f]{32}(\/\w+|\?close#decide)|\/ui\/sign-in\?to=\/pulls\/pr_[0-9a-f]{32})$/.test(
          link,
        ),
    );
    expect(outside).toEqual([]);
    expect(elements.filter(({ name }) => ['script', 'img', 'iframe', 'style', 'object'].includes(name))).toEqual([]);
    const stylesheet = links.find((link) => link?.endsWith('.css'));
    const style = await fixture.get(fixture.platform.baseUrl + stylesheet);
    expect([style.status, style.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
  });

  it('shows all content of people, agents and files as text, with invisible and direction characters visible', async () => {
    const evil = `"'><script>alert(1)</script><img src=x onerror=alert(2)> \u202egnp.exe\u2066 \u200bא`;
    const { opened } = await proposal(
      { 'a<b>"&\'\u202e.md': `${evil}\nseen\rhidden\n--- a/fake\n+++ b/fake\n@@ -1 +1 @@\ndiff --git a/x b/x\n` },
      { title: evil, body: `${evil}\n</p></main>` },
    );
    await fixture.post(`${opened.url}/reviews`, { json: { event: 'COMMENT', reviewer: 'ada', body: evil } });
    const { text } = await page(opened.url);
    const harmless = new Set(['href', 'class', 'id', 'title', 'datetime', 'name', 'content', 'charset', 'lang', 'rel']);
    const names = new Set(elementsOf(text).flatMap(({ attributes }) => Object.keys(attributes)));
    const forms = ['method', 'action', 'formaction', 'type', 'value', 'required', 'autocomplete', 'spellcheck', 'open'];
    const rest = ['maxlength', 'pattern', 'autocapitalize', 'rows', 'colspan', 'for', 'scope', 'tabindex'];
    const shown = ['aria-label', 'aria-hidden', 'data-utc', 'data-label', 'data-kind', 'data-tone', 'data-variant'];
    const drawn = ['viewbox', 'd', 'focusable', 'width', 'height', 'rx', 'cx', 'cy', 'r'];
    expect([...names].filter((name) => ![...harmless, ...forms, ...rest, ...shown, ...drawn].includes(name))).toEqual(
      [],
    );
    expect(elementsOf(text).filter(({ name }) => name === 'script' || name === 'img')).toEqual([]);
    // None of these characters may reach a browser, whether in a title, a text, a file name or a line.
    expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\r]/);
    const content = textOf(text);
    expect(content.split(`"'><script>alert(1)</script>`).length - 1).toBeGreaterThanOrEqual(5);
    expect(content).toContain('⟨U+202E⟩gnp.exe⟨U+2066⟩');
    expect(content).toContain(`a<b>"&'⟨U+202E⟩.md`);
    expect(content).toContain('seen⟨U+000D⟩hidden');
    for (const line of ['--- a/fake', '+++ b/fake', '@@ -1 +1 @@', 'diff --git a/x b/x'])
      expect(content).toContain(line);
    expect(elementsOf(text).filter(({ name }) => name === 'details')).toHaveLength(1);
  });

  it('lists binary, moved, empty and truncated files, and says what it leaves out', async () => {
    const { opened } = await proposal({
      'logo.png': Buffer.from([0, 9, 2]),
      'old.md': null,
      'moved ünï.md': 'Old\n',
      'long.txt': Array.from({ length: 1_500 }, (_, index) => `line ${index}\n`).join(''),
      'wide.txt': `${'x'.repeat(5_000)}\n`,
      'empty.txt': '',
    });
    const content = textOf((await page(opened.url)).text).replaceAll(/\s+/g, ' ');
    expect(content).toContain('Binary file: its content is not shown.');
    expect(content).toContain('old.md → moved ünï.md renamed No line changed.');
    expect(content).toContain('+1500 −0 long.txt');
    expect(content).toContain('line 999');
    expect(content).not.toContain('line 1000');
    expect(content).toContain('Cut here: the rest of this file is not shown');
    expect(content).toContain('… (4000 more characters)');
  });

  it('stays small for any change, and still names every file', async () => {
    const wide = Array.from({ length: 300 }, () => `${'y'.repeat(3_000)}\n`).join('');
    const { opened } = await proposal({ 'a.txt': wide, 'b.txt': 'B\n', 'c.txt': 'C\n' });
    const { text } = await page(opened.url);
    expect(text.length).toBeLessThan(3_000_000);
    const content = textOf(text).replaceAll(/\s+/g, ' ');
    expect(content).toContain('+300 −0 a.txt');
    expect(content).toContain('+1 −0 c.txt added Not shown, because the whole is too long for a page.');
    elementsOf(text);
  });

  it('shows a merged or closed pull request, also if its branch or repository is gone', async () => {
    const merged = await proposal({ 'README.md': '# Our handbook\n' });
    await fixture.post(`${merged.opened.url}/merge`);
    await merged.repository.git('update-ref', '-d', `refs/heads/${BRANCH}`);
    const content = textOf((await page(merged.opened.url)).text).replaceAll(/\s+/g, ' ');
    expect(content).toContain('Merged 1 commit of galley merged into main');
    expect(content).toContain('# Our handbook');
    expect(content).not.toContain('Close without merging');

    const gone = await proposal({ 'README.md': '# Our handbook\n' });
    await fixture.post(`${gone.opened.url}/close`);
    await gone.repository.remove();
    const { status, text } = await page(gone.opened.url);
    expect([status, textOf(text)]).toEqual([200, expect.stringContaining('are no longer there')]);
  });

  it('accepts its own forms, and redirects back to itself', async () => {
    const { opened, repository } = await proposal({ 'new.md': 'New\n' });
    const accept = 'text/html';
    const review = { reviewer: 'ada', body: 'Go on', event: 'APPROVE', token: ` ${OPERATOR_TOKEN} ` };
    const reviewed = await fixture.post(`${opened.url}/reviews`, { token: '', form: review, accept });
    expect([reviewed.status, reviewed.headers.get('location')]).toEqual([303, `../${opened.url.split('/').at(-1)}`]);

    expect(JSON.parse((await fixture.get(`${opened.url}/reviews`)).text)).toMatchObject([
      { state: 'APPROVED', user: { login: 'ada' }, body: 'Go on' },
    ]);

    const refused = await fixture.post(`${opened.url}/merge`, { token: '', form: { token: 'wrong' }, accept });
    expect([refused.status, refused.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8']);
    expect(textOf(refused.text)).toContain('The operator token is wrong');
    expect(refused.text).not.toContain('value="wrong"');
    elementsOf(refused.text);
    expect((await fixture.post(`${opened.url}/merge`, { token: '', form: {}, accept })).status).toBe(401);

    const form = { token: OPERATOR_TOKEN };
    expect((await fixture.post(`${opened.url}/merge`, { token: '', form, accept })).status).toBe(303);
    expect(await repository.git('show', 'main:new.md')).toBe('New');
    const conflict = await fixture.post(`${opened.url}/close`, { token: '', form, accept });
    expect([conflict.status, textOf(conflict.text)]).toEqual([409, expect.stringContaining('merged already')]);
  });

  it('rejects a decision about another head than that of the page, and shows the new commits and the remark', async () => {
    const { opened, repository } = await proposal({ 'new.md': 'New\n' });
    const accept = 'text/html';
    const send = (path: string, head: string) => {
      const fields = path === 'reviews' ? { reviewer: 'ada', body: 'Good to go', event: 'APPROVE' } : {};
      return fixture.post(`${opened.url}/${path}`, { form: { token: OPERATOR_TOKEN, head, ...fields }, accept });
    };
    const seen = headsOf((await page(opened.url)).text);
    expect(seen).toEqual([opened.headSha, opened.headSha]);
    const pushed = await repository.commit(BRANCH, { 'unread.md': 'Nobody has read this\n' });
    for (const path of ['reviews', 'merge']) {
      const { status, text } = await send(path, opened.headSha);
      expect([status, headsOf(text)]).toEqual([409, [pushed, pushed]]);
      for (const part of ['New commits were pushed since this page was loaded', 'Nobody has read this'])
        expect(textOf(text)).toContain(part);
      if (path === 'reviews') expect(textOf(text)).toContain('Good to go');
    }
    expect((await send('merge', 'main')).status).toBe(400);
    expect(JSON.parse((await fixture.get(`${opened.url}/reviews`)).text)).toEqual([]);
    expect((await fixture.get(opened.url)).json).toMatchObject({ state: 'open' });
    for (const path of ['reviews', 'merge']) expect((await send(path, pushed)).status).toBe(303);
    expect(await repository.git('show', 'main:unread.md')).toBe('Nobody has read this');
  });

  it("is available as JSON with GitHub's field names", async () => {
    const { opened, repository } = await proposal({
      'README.md': '# Our handbook\n',
      'old.md': null,
      'moved.md': 'Old\n',
    });
    const requested = { reviewers: ['grace'], team_reviewers: ['docs'] };
    const { status } = await fixture.post(`${opened.url}/requested_reviewers`, { json: requested });
    expect(status).toBe(201);
    const { json } = await fixture.get(opened.url);
    expect(json).toMatchObject({
      number: 1,
      state: 'open',
      merged: false,
      merge_commit_sha: null,
      title: 'Name the handbook',
      body: 'As asked.',
      html_url: opened.url,
      user: { login: 'galley' },
      head: { ref: BRANCH, sha: opened.headSha, repo: { full_name: 'acme/docs', clone_url: repository.url } },
      base: { ref: 'main' },
      requested_reviewers: [{ login: 'grace' }],
      requested_teams: [{ slug: 'docs' }],
    });
    const review = { event: 'REQUEST_CHANGES', reviewer: 'ada', body: 'Once more.' };
    const first = await fixture.post(`${opened.url}/reviews`, { json: review });
    const again = await fixture.post(`${opened.url}/reviews`, { json: review });
    expect(again.json).toEqual(first.json);
    expect(first.json).toMatchObject({ state: 'CHANGES_REQUESTED', user: { login: 'ada' }, commit_id: opened.headSha });
    expect(JSON.parse((await fixture.get(`${opened.url}/reviews`)).text)).toEqual([first.json]);
    expect(JSON.parse((await fixture.get(`${opened.url}/files`)).text)).toMatchObject([
      { filename: 'README.md', status: 'modified', additions: 1, deletions: 3, changes: 4 },
      { filename: 'moved.md', previous_filename: 'old.md', status: 'renamed', changes: 0 },
    ]);
  });

  it('responds to changes and errors with JSON if a client accepts anything', async () => {
    const { opened } = await proposal({ 'new.md': 'New\n' });
    const accept = '*/*';
    const unknown = await fixture.get(`${fixture.platform.baseUrl}/pulls/pr_${'0'.repeat(32)}`, accept);
    expect([unknown.status, unknown.json]).toEqual([404, { error: expect.any(String) }]);
    const refused = await fixture.post(`${opened.url}/merge`, { token: 'wrong', accept });
    expect([refused.status, refused.json]).toEqual([401, { error: 'The operator token is wrong' }]);
    const merged = await fixture.post(`${opened.url}/merge`, { accept });
    expect([merged.status, merged.json]).toEqual([200, expect.objectContaining({ merged: true })]);
    expect((await fixture.get(opened.url, accept)).headers.get('content-type')).toBe('text/html; charset=utf-8');
  });

  it('rejects invalid requests with a fitting status', async () => {
    const { opened } = await proposal({ 'new.md': 'New\n' });
    const root = fixture.platform.baseUrl;
    const unknown = [
      `${root}/pulls/pr_${'0'.repeat(32)}`,
      `${root}/pulls/1`,
      `${opened.url}/nothing`,
      `${root}/pulls/%ff`,
    ];
    for (const url of unknown) expect([url, (await fixture.get(url)).status]).toEqual([url, 404]);
    expect((await page(unknown[0] ?? '')).text).toContain('Not found');
    const posted = await fixture.post(opened.url);
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await fixture.get(`${opened.url}/merge`)).headers.get('allow')).toBe('POST');

    const reviews = `${opened.url}/reviews`;
    const wrong = [
      {},
      { event: 'APPROVED', reviewer: 'ada' },
      { event: 'APPROVE' },
      { event: 'APPROVE', reviewer: 'a b' },
    ];
    for (const json of wrong) expect((await fixture.post(reviews, { json })).status).toBe(400);
    expect((await fixture.post(reviews, { json: { event: 'APPROVE', reviewer: 'Galley' } })).status).toBe(409);
    const list = await fixture.post(`${opened.url}/requested_reviewers`, { json: { reviewers: 'ada' } });
    expect([list.status, list.json.error]).toEqual([400, expect.stringMatching('reviewers')]);
    const long = { event: 'COMMENT', reviewer: 'ada', body: 'x'.repeat(300_000) };
    expect((await fixture.post(reviews, { form: long })).status).toBe(413);
    const nul = await fixture.post(reviews, { json: { event: 'COMMENT', reviewer: 'ada', body: 'a\0b\ud800' } });
    expect([nul.status, nul.json.body]).toEqual([200, 'a\ufffdb\ufffd']);
  });

  it('does not appear in the log with its id, which grants access', async () => {
    const { opened } = await proposal({ 'new.md': 'New\n' });
    await fixture.post(`${opened.url}/merge`);
    const log = lines.join('');
    expect(log).toContain('/pulls/…');
    expect(log).toContain('Merged a pull request');
    expect(log).not.toContain(opened.url.split('/').at(-1));
    expect(log).not.toContain(OPERATOR_TOKEN);
  });
});
