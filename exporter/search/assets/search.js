// The search page: finds pages with Pagefind's index, and pages by their exact title.
const place = document.querySelector('[data-galley-search]');
const { texts, language, commonWords, bucketCount } = JSON.parse(place.dataset.galleySearch);
const [form, status, list, more] = ['form', '[role=status]', 'ol', '.more'].map((each) => place.querySelector(each));
const field = form.querySelector('input');
const folder = new URL('.', import.meta.url);
const root = new URL('..', folder);
const common = new Set(commonWords);
/** Each result is a request. */
const SHOWN = 6;
const DELAY_MS = 250;

let loading;
/** Counts searches: a late result of an earlier one is dropped. */
let current = 0;
let shown = { results: [], count: 0 };

function load() {
  loading ??= import(new URL('pagefind.js', folder).href).then(async (pagefind) => {
    // A word that is the one searched counts more than one that begins with it.
    await pagefind.options({ noWorker: true, excerptLength: 30, ranking: { termSimilarity: 10 } });
    return pagefind;
  });
  loading.catch(() => {
    loading = undefined;
  });
  return loading;
}

function plain(word) {
  return word.toLowerCase().replace(/[^\p{L}\p{N}_]/gu, '');
}

/** Without the words that most pages have: their part of the index is large, and says nothing. */
function withoutCommon(query) {
  if (query.includes('"')) return query;
  const words = query.split(/\s+/).filter((word) => plain(word) !== '');
  const rare = words.filter((word) => !common.has(plain(word)));
  return rare.length === 0 ? query : rare.join(' ');
}

/** As title-files.ts has it. */
function titleKey(text) {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{P}\p{S}]+/gu, ' ')
    .trim();
}

function bucketOf(key) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(key)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash % bucketCount;
}

async function pagesTitled(query) {
  const key = `${language} ${titleKey(query)}`;
  const response = await fetch(new URL(`titles/${bucketOf(key)}.json`, folder));
  if (!response.ok) throw new Error(`${response.status} for the titles`);
  const titles = await response.json();
  return Object.hasOwn(titles, key) ? titles[key] : [];
}

async function find(query) {
  const pagefind = await load();
  const [titled, { results }] = await Promise.all([pagesTitled(query), pagefind.search(withoutCommon(query))]);
  const seen = new Set(titled.map(([path]) => path));
  const first = titled.map(([path, title]) => ({ count: 1, data: async () => ({ path, title, excerpt: '' }) }));
  const rest = results.map((result) => ({ count: 1, data: async () => dataOf(await result.data(), seen) }));
  return [...first, ...rest];
}

/** Undefined if the page is in the list already. */
function dataOf({ raw_url: url, meta, excerpt, content }, seen) {
  const path = url.replace(/^\//, '');
  if (seen.has(path)) return undefined;
  return { path, title: meta.title || path, excerpt: excerpt || escaped(content.split(/\s+/).slice(0, 30).join(' ')) };
}

function escaped(text) {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function linkTo(path) {
  return new URL(path.split('/').map(encodeURIComponent).join('/'), root).href;
}

function item({ path, title, excerpt }) {
  const element = document.createElement('li');
  const link = document.createElement('a');
  link.href = linkTo(path);
  link.textContent = title;
  element.append(link);
  if (excerpt !== '') element.append(excerptOf(excerpt));
  return element;
}

/** The excerpt is text of a page with marks around the words found. Only those become elements. */
function excerptOf(html) {
  const paragraph = document.createElement('p');
  const parsed = new DOMParser().parseFromString(html, 'text/html');
  for (const node of parsed.body.childNodes) {
    const part = node.nodeName === 'MARK' ? document.createElement('mark') : document.createElement('span');
    part.textContent = node.textContent;
    paragraph.append(part);
  }
  return paragraph;
}

async function showMore(search) {
  const next = shown.results.slice(shown.count, shown.count + SHOWN);
  const pages = await Promise.all(next.map(({ data }) => data()));
  if (search !== current) return undefined;
  shown.count += next.length;
  more.hidden = shown.count >= shown.results.length;
  const items = pages.filter((page) => page !== undefined).map(item);
  list.append(...items);
  return items[0];
}

async function search() {
  current += 1;
  const own = current;
  const query = field.value.trim();
  const url = new URL(location.href);
  if (query === '') url.searchParams.delete('q');
  else url.searchParams.set('q', query);
  history.replaceState(history.state, '', url);
  if (query === '') {
    show([]);
    status.textContent = '';
    return;
  }
  status.textContent = texts.searching;
  try {
    const results = await find(query);
    if (own !== current) return;
    show(results);
    await showMore(own);
    if (own === current) status.textContent = countText(results.length, query);
  } catch (error) {
    if (own !== current) return;
    show([]);
    status.textContent = texts.failed;
    console.error(error);
  }
}

function show(results) {
  shown = { results, count: 0 };
  list.replaceChildren();
  more.hidden = true;
}

function countText(count, query) {
  const text = count === 0 ? texts.none : count === 1 ? texts.one : texts.many;
  return text.replace('{count}', String(count)).replace('{query}', () => query);
}

let timer;
field.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(search, DELAY_MS);
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  clearTimeout(timer);
  void search();
});
more.addEventListener('click', async () => {
  const first = await showMore(current);
  first?.querySelector('a').focus();
});
status.textContent = '';
form.hidden = false;
field.value = new URL(location.href).searchParams.get('q') ?? '';
field.focus();
if (field.value !== '') void search();
