import { Parser } from 'htmlparser2';

/** A request's answer; redirects aren't followed. */
export type Shown = { status: number; location: string | null; text: string; headers: Headers };

/** A browser without scripts: it keeps cookies and fills in forms. */
export type Browser = {
  get(path: string): Promise<Shown>;
  /** Sends a form's fields as they are. */
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Shown>;
  /** Sends JSON, as a page's script does. */
  postJson(path: string, body: unknown): Promise<Shown>;
  /** Sends the form of that page whose action is `action`, with its hidden fields. */
  submit(page: string, action: string, fields?: Record<string, string>): Promise<Shown>;
  cookies: Map<string, string>;
};

export function openBrowser(baseUrl: string): Browser {
  const cookies = new Map<string, string>();

  async function request(path: string, init: RequestInit): Promise<Shown> {
    const headers = new Headers(init.headers);
    if (cookies.size > 0) headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    headers.set('accept', 'text/html,application/xhtml+xml,*/*;q=0.8');
    const response = await fetch(baseUrl + path, { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = cookie.split(';').map((part) => part.trim());
      const [name = '', ...value] = pair.split('=');
      if (attributes.some((each) => /^max-age=0$/i.test(each))) cookies.delete(name);
      else cookies.set(name, value.join('='));
    }
    const { status } = response;
    return {
      status,
      location: response.headers.get('location'),
      text: await response.text(),
      headers: response.headers,
    };
  }

  const post: Browser['post'] = (path, fields, headers = {}) =>
    request(path, { method: 'POST', body: new URLSearchParams(fields), headers: { origin: baseUrl, ...headers } });

  return {
    cookies,
    get: (path) => request(path, {}),
    post,
    postJson: (path, body) =>
      request(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { origin: baseUrl, 'content-type': 'application/json' },
      }),
    async submit(page, action, fields = {}) {
      const { status, text } = await request(page, {});
      // The last: a form that filters a list has the same action.
      const form = formsOf(text).findLast((each) => each.action === action);
      if (form === undefined) throw new Error(`${page} (${status}) has no form ${action}`);
      return post(action, { ...form.hidden, ...fields });
    },
  };
}

const KEYS = '/ui/settings/keys';

/** Creates an API key as a person does, who sees it once, on the page that follows; empty if it was rejected. */
export async function createKeyOnPage(browser: Browser, fields: Record<string, string>): Promise<string> {
  const { location } = await browser.submit(KEYS, KEYS, fields);
  return location === null ? '' : (/galley_[\w-]{49}/.exec((await browser.get(location)).text)?.[0] ?? '');
}

type PageForm = { action: string; hidden: Record<string, string> };

/** The forms of a page with their hidden fields. */
export function formsOf(html: string): PageForm[] {
  const forms: PageForm[] = [];
  const parser = new Parser({
    onopentag(name, { action = '', type, name: field = '', value = '' }) {
      if (name === 'form') forms.push({ action, hidden: {} });
      const form = forms.at(-1);
      if (name === 'input' && type === 'hidden' && form !== undefined) form.hidden[field] = value;
    },
  });
  parser.end(html);
  return forms;
}
