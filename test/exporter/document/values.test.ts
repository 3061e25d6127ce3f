import { readMarks, referencesOf, resourcesOf, rewritten } from './engine.ts';

/** A page at `/guides/start`, marked with its rewritten form, and what is tried at the origin. */
const ATTRIBUTES: [what: string, html: string, found: string[]][] = [
  ['from the root', '<div data-any_name="«/i/a.png→../i/a.png»">', ['/i/a.png']],
  ['with the public domain', '<img data-orig-file="«https://docs.example.com/a.png→../a.png»">', ['/a.png']],
  [
    'with the origin and a query',
    '<a data-x="«http://127.0.0.1:8080/a.pdf?v=1→../a.2b9a3d2b1c4e.pdf»">',
    ['/a.pdf?v=1'],
  ],
  ['without a scheme', '<a data-x="«//docs.example.com/a.png→../a.png»">', ['/a.png']],
  ['of any extension', '<div data-scene="«/m/a.splinecode→../m/a.splinecode»">', ['/m/a.splinecode']],
  ['without an extension', '<div data-file="«/avatar/42→../avatar/42»">', ['/avatar/42']],
  ['beside the page', '<div data-x="img/a.png" data-y="«../b.riv#c→../b.riv#c»">', ['/guides/img/a.png', '/b.riv']],
  [
    'of a custom element',
    '<model-viewer src=«/m/a.glb→../m/a.glb» environment-image="a.hdr">',
    ['/m/a.glb', '/guides/a.hdr'],
  ],
  ['of an unknown attribute', '<redoc spec-url="«/openapi.yaml→../openapi.yaml»"></redoc>', ['/openapi.yaml']],
  ['in image candidates', '<img data-bgset="«/a.png→../a.png» 1x, «/b→../b» 2x">', ['/a.png', '/b']],
  [
    'in a list',
    '<div data-all="«/a.png→../a.png»,«/b.png→../b.png» | «c/d.png→c/d.png»">',
    ['/a.png', '/b.png', '/guides/c/d.png'],
  ],
  ['with a comma', '<div data-x="«/a,b.png→../a,b.png»">', ['/a,b.png']],
  [
    'in JSON',
    `<div data-x="{&quot;a&quot;:[&quot;«https:\\/\\/docs.example.com\\/a.png→../a.png»&quot;],&quot;/k.png&quot;:1}" data-y='{"b":"«/b.png→../b.png»"}'>`,
    ['/a.png', '/b.png'],
  ],
  ['in code', `<div x-data="{ image: '«/a.png→../a.png»' }">`, ['/a.png']],
  ['of a page', '<div data-href="/guides/more">', ['/guides/more']],
  ['of a described file', '<link rel="service-desc" href="«/api.json→../api.json»">', ['/api.json']],
  ['in an unknown meta element', '<meta name="x-config" content="«/c.json→../c.json»">', ['/c.json']],
];

const guessed = (html: string) => resourcesOf({ text: html }, 'guess').map((each) => each.replace('guess ', ''));

describe('the URL of a file in an attribute', () => {
  it.each(ATTRIBUTES)('is tried, and relative if the site has it: %s', (_, html, found) => {
    const { before, after } = readMarks(html);
    expect(guessed(before)).toEqual(found);
    const hash = /\.[0-9a-f]{12}(?=\.)/g;
    const isPage = (url: string) => url.endsWith('/more');
    const target = ({ url, kind }: { url: string; kind: string }) => ({
      path: `${new URL(url).pathname.slice(1)}${isPage(url) && kind === 'guess' ? '.html' : ''}`,
    });
    expect(rewritten({ text: before, target }).replace(hash, '')).toBe(after.replace(hash, ''));
    const missing = () => ({ missing: true as const });
    const asPublic = before.replace('http://127.0.0.1:8080', 'https://docs.example.com');
    const isLink = before.startsWith('<link');
    expect(rewritten({ text: before, target: missing })).toBe(
      isLink ? before.replace('"/api', '"https://docs.example.com/api') : asPublic,
    );
  });

  it.each([
    ...[
      '<p title="/a.png" alt="/a.png" aria-label="/a.png"><input value="/a.png">',
      '<p data-x="/">',
      '<p data-x="a.png">',
    ],
    ...['<p data-x="https://other.org/a.png">', '<p data-x="application/json">', '<p data-x="/v1.2 is out">'],
    ...['<p data-x="/users/{id}">', '<p data-x="mailto:a/b.c">', '<p data-v="1.5/2.0">', '<p data-x="//a.png">'],
    '<p data-x="/a.png is here">',
  ])('is not seen in %s', (html) => {
    expect(guessed(html)).toEqual([]);
    expect(referencesOf({ text: html })).toEqual([]);
  });

  it('is found up to a thousand times per document', () => {
    const text = Array.from({ length: 1_100 }, (_, index) => `<p data-x="/${index}.png">`).join('');
    expect(guessed(text)).toHaveLength(1_000);
  });

  it('is a page if a custom element links to it', () => {
    const { before, after } = readMarks('<sl-button href="«/about→../about.html»">');
    expect(referencesOf({ text: before })).toEqual(['page /about']);
    expect(rewritten({ text: before })).toBe(after);
  });
});

const DOMAIN = 'https://docs.example.com';
const inline = (text: string) => ({ text: `<script>${text}</script>` });
const inPage = (link: string) => `(new window.URL("${link}",window.document.baseURI).href)`;

describe('the URL of a file in a script', () => {
  it.each([
    ['an array', `var a=["«${DOMAIN}/i/a.png→»"]`, ['/i/a.png']],
    ['escapes', `f('«https:\\/\\/docs.example.com\\/a.png→»')`, ['/a.png']],
    ['a template', `x = \`«${DOMAIN}/a.png→»\``, ['/a.png']],
    ['a return without a space', `function f(){return"«${DOMAIN}/a.png→»"}`, ['/a.png']],
  ])('becomes an expression for its absolute URL in %s', (_, script, found) => {
    const before = script.replace(/«(.*)→»/, '$1');
    const [, url = ''] = found[0]?.split('/', 2) ?? [];
    const after = script.replace(/["'`]«.*→»["'`]/, inPage(`../${found[0]?.slice(1)}`));
    expect(url).not.toBe('nothing');
    expect(guessed(inline(before).text)).toEqual(found);
    expect(rewritten(inline(before))).toBe(inline(after).text);
    expect(rewritten({ ...inline(before), target: () => ({ missing: true }) })).toBe(inline(before).text);
  });

  it.each([
    ['a longer text', `t = "see ${DOMAIN}/a.png"`],
    ['JSON in a string', `JSON.parse('{"a":"https:\\\\/\\\\/docs.example.com\\\\/a.png"}')`],
    ['a part of a text', `t = "${DOMAIN}/a.png" + x`],
    ['a key', `t = {"${DOMAIN}/a.png": 1}`],
    ['a statement', `"${DOMAIN}/a.png"`],
    ['a comment', `// ${DOMAIN}/a.png`],
    ['invalid code', `t = ["${DOMAIN}/a.png"`],
  ])('is tried, but not rewritten in %s', (_, script) => {
    expect(guessed(inline(script).text)).toEqual(['/a.png']);
    expect(rewritten(inline(script))).toBe(inline(script).text);
  });

  it('is resolved against the module, or from the root of the host in another script file', () => {
    const file = (text: string) => ({ text, type: 'text/javascript', url: '/js/app.js' });
    expect(rewritten(file(`export const a = "${DOMAIN}/a.png"`))).toBe(
      'export const a = (new globalThis.URL("../a.png",import.meta.url).href)',
    );
    expect(rewritten(file(`a = "${DOMAIN}/a.png"`))).toBe('a = (globalThis.location.origin+"/a.png")');
  });

  it('comes from the root in a page that a framework hydrates, because its router changes the URL of the page', () => {
    const text = `<div id="__nuxt"></div><script>a = "${DOMAIN}/a.png"</script>`;
    expect(rewritten({ text })).toContain(inPage('/a.png'));
  });

  it('is tried if an argument is the bare name of a script or of its data', () => {
    const text =
      '<script>load(document, "search.js"); get("a.json","b.wasm"); say("it is index.js", "a.txt", x.js)</script>';
    expect(guessed(text)).toEqual(['/guides/search.js', '/guides/a.json', '/guides/b.wasm']);
    expect(rewritten({ text })).toBe(text);
  });

  it('is tried if it has any extension, or a name after a word that says so', () => {
    const text =
      '<script>load("/m/a.usdz"); SwaggerUIBundle({ url: "openapi.yaml" }); t("react/jsx.runtime", "/v1.2")</script>';
    expect(guessed(text)).toEqual(['/m/a.usdz', '/guides/openapi.yaml']);
    expect(rewritten({ text })).toBe(text);
  });
});

describe('the URL of a file in JSON', () => {
  it('of a page becomes relative', () => {
    const { before, after } = readMarks(
      `<script type="application/json">{"a":"«https:\\/\\/docs.example.com\\/a.png→../a.png»","b":"«/b.png→../b.png»","/k.png":1,"c":"/guides/x"}</script>`,
    );
    expect(guessed(before)).toEqual(['/a.png', '/b.png']);
    expect(rewritten({ text: before })).toBe(after);
  });

  it('of structured data stays whole, on the public domain', () => {
    const { before, after } = readMarks(
      `<script type="application/ld+json">{"image":"«http:\\/\\/127.0.0.1:8080→https://docs.example.com»\\/a.png","url":"${DOMAIN}/x","logo":"/l.png","target":"«http://127.0.0.1:8080/→https://docs.example.com/»search?q={q}"}</script>`,
    );
    expect(guessed(before)).toEqual(['/a.png', '/l.png']);
    expect(rewritten({ text: before })).toBe(after);
  });

  const json = (text: string) => ({ text, type: 'application/json', url: '/data/items.json' });

  it('of a file comes from the root if it was absolute, and stays otherwise', () => {
    const { before, after } = readMarks(
      `{"a":"«${DOMAIN}/a.png→/a.png»","b":"/b.png","c":"./c.png","uri":"d.bin","e":"e.bin","f":"img/f.png","g":"/users"}`,
    );
    const found = ['/a.png', '/b.png', '/data/c.png', '/img/f.png', '/data/d.bin'];
    expect(resourcesOf(json(before)).sort()).toEqual(found.map((each) => `guess ${each}`).sort());
    expect(rewritten(json(before))).toBe(after);
  });

  it.each([
    [
      'JSON',
      json('{"$ref":"schemas/pet.json#/Pet","x":{"$ref":"#/a"},"servers":[{"url":"https://api.example.org/v1"}]}'),
      ['/data/schemas/pet.json'],
    ],
    [
      'YAML',
      {
        text: 'openapi: 3.0.0\nservers:\n  - url: https://api.example.org/v1\npaths:\n  /pets:\n    $ref: "schemas/pet.yaml#/Pet"\n  /x: {$ref: ./x.yaml}\ninfo:\n  x-logo: /logo.svg\n  description: see /not.png here\n',
        type: 'text/yaml',
        url: '/data/openapi.yaml',
      },
      ['/logo.svg', '/data/schemas/pet.yaml', '/data/x.yaml'],
    ],
  ])('of an API description in %s is tried', (_, sample, found) => {
    const guesses = resourcesOf(sample, 'guess').map((each) => each.replace('guess ', ''));
    expect(guesses.filter((each) => found.includes(each)).sort()).toEqual([...found].sort());
    expect(guesses).toHaveLength(found.length);
    expect(rewritten(sample)).toBe(sample.text);
  });
});
