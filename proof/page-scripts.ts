/** Scripts that run in the pages, as text: the product's code has no types of the DOM. */

/**
 * Every visit begins at the same time, and random numbers are the same, so that two visits differ as little as possible.
 * The clock goes on, because scripts wait for it.
 */
export function sameTimeAndChance(atMs: number): string {
  return `(() => {
  const began = Date.now();
  const Real = Date;
  const now = () => Real.now() - began + ${atMs};
  const Same = new Proxy(Real, {
    construct: (target, given, self) => Reflect.construct(target, given.length === 0 ? [now()] : given, self),
    apply: () => new Real(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
  globalThis.Date = Same;
  let seed = 1;
  Math.random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
})()`;
}

/** Loads what loads late: scrolls through the page, and waits for fonts and images, each for a limited time. */
export const LOAD_ALL = `(async () => {
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const frame = () => Promise.race([new Promise((done) => requestAnimationFrame(done)), pause(250)]);
  for (const late of document.querySelectorAll('img[loading=lazy], iframe[loading=lazy]')) late.loading = 'eager';
  for (let y = 0, steps = 0; y < document.documentElement.scrollHeight && steps < 40; y += innerHeight, steps += 1) {
    scrollTo({ top: y, behavior: 'instant' });
    await frame();
  }
  scrollTo({ top: 0, behavior: 'instant' });
  const images = [...document.images].filter((image) => !image.complete);
  const loaded = (image) => new Promise((done) => {
    image.addEventListener('load', done);
    image.addEventListener('error', done);
  });
  await Promise.race([Promise.all([document.fonts.ready, ...images.map(loaded)]), pause(5000)]);
  await frame();
})()`;

/** Waits until scripts change nothing for `stillMs` and leave the page idle, for a limited time: a clock ticks on. */
export const untilStill = (stillMs: number): string => `new Promise((done) => {
  let timer;
  const end = () => {
    observer.disconnect();
    done();
  };
  const restart = () => {
    clearTimeout(timer);
    const own = (timer = setTimeout(() => requestIdleCallback(() => own === timer && end()), ${stillMs}));
  };
  const observer = new MutationObserver(restart);
  observer.observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
  restart();
  setTimeout(end, 5000);
})`;

/** What a page shows: its words, the targets of its links and its images, those in frames and shadow trees included. */
export const READ_PAGE = `(() => {
  const MAX = 2_000_000;
  const words = [];
  const links = [];
  const images = [];
  let length = 0;
  const silent = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE']);
  const add = (text) => {
    if (length > MAX) return;
    length += text.length;
    words.push(text);
  };
  const visit = (node) => {
    for (let child = node.firstChild; child !== null; child = child.nextSibling) {
      if (child.nodeType === 3) add(child.data);
      if (child.nodeType !== 1 || silent.has(child.tagName)) continue;
      const tag = child.tagName.toLowerCase();
      if ((tag === 'a' || tag === 'area') && child.hasAttribute('href') && links.length < 20_000) {
        const href = typeof child.href === 'string' ? child.href : new URL(child.href.baseVal, child.baseURI).href;
        links.push({ href, text: (child.textContent || '').replace(/\\s+/g, ' ').trim().slice(0, 80) });
      }
      if (tag === 'img' && images.length < 5_000)
        images.push({ src: child.currentSrc || child.src, width: child.naturalWidth, height: child.naturalHeight });
      if (child.shadowRoot) visit(child.shadowRoot);
      let inside = null;
      try { inside = tag === 'iframe' ? child.contentDocument : null; } catch {}
      if (inside !== null && inside.body) visit(inside.body);
      visit(child);
      if (!/^(a|abbr|b|code|em|i|mark|small|span|strong|sub|sup|u|wbr)$/.test(tag)) add(' ');
    }
  };
  add(document.title + ' ');
  if (document.body) visit(document.body);
  const height = Math.ceil(Math.max(document.documentElement.scrollHeight, document.body?.scrollHeight ?? 0));
  return { text: words.join(''), links, images, height };
})()`;
