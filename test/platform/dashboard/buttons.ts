import { Parser } from 'htmlparser2';
import type { Browser, Shown } from './browser.ts';

/** Something on a page that a person can press. */
type Button = {
  method: string;
  /** The path that it is sent to; with `method` `SCRIPT`, what the page's script does. */
  path: string;
  /** The button's own name and value. */
  own: Record<string, string>;
  hidden: Record<string, string>;
};

/** The buttons of a page at `path`. */
function buttonsOf(html: string, path: string): Button[] {
  const buttons: Button[] = [];
  let form: Omit<Button, 'own'> | undefined;
  const at = (action: string) => new URL(action, `http://page${path}`).pathname;
  new Parser({
    onopentag(tag, { action = '', method = 'get', type, name = '', value = '', formaction, ...rest }) {
      if (tag === 'form') form = { method: method.toUpperCase(), path: at(action), hidden: {} };
      if (tag === 'input' && type === 'hidden' && form !== undefined) form.hidden[name] = value;
      if (tag !== 'button') return;
      const script = Object.entries(rest).find(([key]) => key === 'data-copy' || key === 'data-passkey');
      if (script !== undefined) {
        const [key, what] = script;
        buttons.push({ method: 'SCRIPT', path: key === 'data-copy' ? key : `${key}=${what}`, own: {}, hidden: {} });
      } else if (form !== undefined) {
        const own = name === '' ? undefined : { [name]: value };
        buttons.push({ ...form, ...(formaction !== undefined && { path: at(formaction) }), own: own ?? {} });
      } else throw new Error(`${path} has a button that does nothing`);
    },
    onclosetag(tag) {
      if (tag === 'form') form = undefined;
    },
  }).end(html);
  return buttons;
}

export type Buttons = {
  /** Opens a page and notes its buttons. */
  look(browser: Browser, page: string): Promise<string>;
  /**
   * Presses the button of a page with this label, such as `POST /ui/exports/:jobId/cancel`, or with its own value
   * `POST /pulls/:id/reviews event=APPROVE`. Throws if the page has none.
   */
  press(browser: Browser, page: string, label: string, fields?: Record<string, string>): Promise<Shown>;
  /** Labels of buttons that were on a page, but not pressed. */
  unpressed(): string[];
};

/** Notes which buttons pages have and which are pressed, by the routes (`METHOD /path/:id`) that they are sent to. */
export function watchButtons(routes: readonly string[]): Buttons {
  const [seen, pressed] = [new Set<string>(), new Set<string>()];
  const patterns = routes.map((route) => {
    return { route, pattern: new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`), ids: route.split(':').length };
  });
  patterns.sort((a, b) => a.ids - b.ids);

  function labelOf({ method, path, own }: Button): string {
    if (method === 'SCRIPT') return `SCRIPT ${path}`;
    const found = patterns.find(({ pattern }) => pattern.test(`${method} ${path}`));
    const values = Object.entries(own).map(([name, value]) => ` ${name}=${value}`);
    return `${found?.route ?? `${method} ${path} (no route)`}${values.join('')}`;
  }

  async function open(browser: Browser, page: string): Promise<{ text: string; buttons: Button[] }> {
    const { status, text } = await browser.get(page);
    if (status !== 200) throw new Error(`${page} is ${status}`);
    const buttons = buttonsOf(text, new URL(page, 'http://page').pathname);
    for (const button of buttons) seen.add(labelOf(button));
    return { text, buttons };
  }

  return {
    look: async (browser, page) => (await open(browser, page)).text,
    async press(browser, page, label, fields = {}) {
      const { buttons } = await open(browser, page);
      const button = buttons.find((each) => labelOf(each) === label);
      if (button === undefined) throw new Error(`${page} has only ${buttons.map(labelOf).join(', ')}`);
      pressed.add(label);
      const all = { ...button.hidden, ...button.own, ...fields };
      if (button.method === 'GET') return await browser.get(`${button.path}?${new URLSearchParams(all)}`);
      return await browser.post(button.path, all);
    },
    unpressed: () => [...seen].filter((label) => !pressed.has(label)).sort(),
  };
}
