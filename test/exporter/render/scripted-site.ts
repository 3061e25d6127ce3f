import { type SiteHandler, serveFiles } from '../../helpers/http-site.ts';

const PAGE = `<!doctype html><title>Site</title><script src="/app.js"></script>
  <script type="speculationrules">{"prerender":[{"urls":["/two"],"eagerness":"immediate"}]}</script><h1>Site</h1>
  <input type="search"><button aria-expanded="false">More</button><button class="btn-dark">Buy</button>
  <button aria-label="Dark theme">T</button>
  <p style="margin-top:3000px">End</p><a href="/two">two</a>`;
const SCRIPT = `const load = (...parts) => fetch('/' + parts.join('/') + '.json');
  const order = (name) => fetch('/' + name, { method: 'POST' });
  addEventListener('DOMContentLoaded', () => {
    const on = (selector, event, then) => document.querySelector(selector).addEventListener(event, then);
    load('data', 'start');
    on('input', 'input', ({ target }) => load('index', target.value));
    on('button', 'click', () => { load('data', 'menu'); order('orders'); });
    on('.btn-dark', 'click', () => load('data', 'bought'));
    on('[aria-label]', 'click', () => load('data', 'dark'));
    on('a', 'mouseover', () => load('data', 'hover'));
    new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && load('data', 'end')).observe(document.querySelector('p'));
    addEventListener('click', (event) => {
      if (event.target.tagName !== 'A') return;
      event.preventDefault();
      history.pushState(null, '', event.target.href);
      load('data', 'two');
    });
  });`;
const JSON_FILE = { body: '{}', contentType: 'application/json' };
const DATA = ['start', 'menu', 'dark', 'hover', 'end', 'two'].map((name) => `data/${name}.json`);
/** The files that the scripts load for the actions of a visitor. */
export const LOADED_BY_SCRIPTS = [...DATA, 'index/a.json', 'index/s.json'];

/** Paths that a visit must not request: it submits nothing and presses no button that only looks like a theme switch. */
export const NEVER_ASKED = ['/orders', '/data/bought.json'];

/** A site of two pages whose script loads a file for each action of a visitor. */
export function scriptedSite(): SiteHandler {
  return serveFiles({
    ...{ '/': PAGE, '/two': PAGE, '/app.js': { body: SCRIPT, contentType: 'text/javascript' } },
    ...Object.fromEntries(LOADED_BY_SCRIPTS.map((path) => [`/${path}`, JSON_FILE])),
  });
}
