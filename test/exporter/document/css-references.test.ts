import { readMarks, referencesOf, resourcesOf, rewritten } from './engine.ts';

/** Content of a stylesheet at `/css/site.css`, marked with its rewritten form, and the references found in it. */
const ROWS: [what: string, css: string, found: string[]][] = [
  ['a plain url', 'a{b:url(«/i.png→../i.png»)}', ['asset /i.png']],
  ['a url with space', 'a{b:url(  «/i.png→../i.png»\n)}', ['asset /i.png']],
  ['a url in double quotes', 'a{b:url("«/i (1).png→../i%20%281%29.png»")}', ['asset /i%20(1).png']],
  ['a url in single quotes', "a{b:URL('«/i.png→../i.png»')}", ['asset /i.png']],
  ['an escaped url', 'a{b:url(«/i\\ \\28 1\\).png→../i%20%281%29.png»)}', ['asset /i%20(1).png']],
  ['an import by string', '@import "«/a.css→../a.css»" screen;', ['asset /a.css']],
  ['an import by url', "@import url('a.css') layer(x);", ['asset /css/a.css']],
  [
    'fonts',
    '@font-face{src:local("A"),url(«/a.woff2→../a.woff2») format("woff2"),url(«/a.eot?→../a.eot»#iefix)}',
    ['asset /a.woff2', 'asset /a.eot'],
  ],
  [
    'image sets',
    'a{b:image-set("«/1.png→../1.png»" 1x, url(«/2.png→../2.png») 2x type("image/png"))}',
    ['asset /1.png', 'asset /2.png'],
  ],
  ['data, fragments and namespaces', '@namespace url(http://x.org/ns);a{b:url(data:,x);c:url(#f);d:url()}', []],
  ['comments and strings', '/* url(/a.png) */ a::before{content:"url(/b.png)"}', []],
  ['a fragment', 'a{mask:url(«/s.svg→../s.svg»#m)}', ['asset /s.svg']],
  ['a string cut off', '@import "«/a.css→../a.css»', ['asset /a.css']],
  [
    'imports with layers, conditions and media',
    '@import "«/a.css→../a.css»" layer(base.x) supports(display: grid) screen; @import url(«/b.css→../b.css») layer; @layer base;',
    ['asset /a.css', 'asset /b.css'],
  ],
  ['namespaces by string and function', '@namespace "http://x.org/a"; @namespace x url("http://x.org/b"); a{b:c}', []],
  [
    'a prefixed image set and a fade',
    'a{b:-webkit-image-set(url(«/1.png→../1.png») 1x);c:cross-fade("«/2.png→../2.png»", "«/3.png→../3.png»", 50%)}',
    ['asset /1.png', 'asset /2.png', 'asset /3.png'],
  ],
  [
    'names with escapes',
    '@\\69mport "«/a.css→../a.css»";a{b:u\\72l(«/1.png→../1.png»);c:\\75 rl( "«/2.png→../2.png»" );d:image\\-set("«/3.png→../3.png»" 1x)}',
    ['asset /a.css', 'asset /1.png', 'asset /2.png', 'asset /3.png'],
  ],
  [
    'NUL, plain and escaped',
    'a{b:url(«/a\0\\0 b→../a%25EF%25BF%25BD%25EF%25BF%25BDb»)}',
    ['asset /a%EF%BF%BD%EF%BF%BDb'],
  ],
  ['a url cut off', 'a{b:url(«/i.png→../i.png»', ['asset /i.png']],
];

const sheet = (text: string) => ({ text, type: 'text/css', url: '/css/site.css' });

describe('a stylesheet’s references', () => {
  it.each(ROWS)('are found and rewritten relative to the stylesheet in %s', (_, css, found) => {
    const { before, after } = readMarks(css);
    expect(referencesOf(sheet(before))).toEqual(found);
    expect(rewritten(sheet(before))).toBe(after);
  });

  it('to another host are bundled in that host’s folder', () => {
    const addressed = sheet('@import "//f.org/css?family=A:wght@1;2";');
    expect(referencesOf(addressed)).toEqual(['asset https://f.org/css?family=A:wght@1;2']);
    const target = () => ({ path: '_external/f.org/css.css' });
    expect(rewritten({ ...sheet('@import "//f.org/css?family=A";'), target })).toBe(
      '@import "../_external/f.org/css.css";',
    );
  });

  it('to another host stay absolute if the file is missing there', () => {
    const target = () => ({ missing: true as const });
    expect(rewritten({ ...sheet('a{b:url(//f.org/x.png)}'), target })).toBe('a{b:url(https://f.org/x.png)}');
  });
});

describe('a URL in a custom property', () => {
  const page = (text: string) => ({ text, url: '/guides/start' });
  const root = '../';

  it('is written from the root in a page, because a stylesheet in another folder may use the property', () => {
    const { before, after } = readMarks(
      '<link rel=stylesheet href="«/css/a.css→../css/a.css»"><style>:root{--a:url("«/i.png→/i.png»") no-repeat}</style>' +
        '<p style="--b: url(«https://docs.example.com/b.png→/b.png»);c:url(«/c.png→../c.png»)">',
    );
    expect(referencesOf(page(before))).toEqual(['asset /css/a.css', 'asset /i.png', 'asset /b.png', 'asset /c.png']);
    const text = rewritten(page(before));
    const end = text.indexOf('</script>') + '</script>'.length;
    expect(text.slice(end)).toBe(after);
    expect(text.slice(0, end)).toContain(`(new URL("${root}",location.href).href,document.currentScript)</script>`);
  });

  it('stays relative in a page, and is looked up beside the page and each of its stylesheets', () => {
    const text =
      '<style>@import "/print/b.css";</style><p style="--a:url(i.png)"><link rel=stylesheet href="../css/a.css"><p style="--a:url(i.png)">';
    expect(resourcesOf(page(text), 'probe')).toEqual(['probe /guides/i.png', 'probe /print/i.png', 'probe /css/i.png']);
    expect(rewritten(page(text))).toBe(text.replace('/print/b.css', '../print/b.css'));
  });

  it('leads through the root in a stylesheet that uses it, so that files in fewer folders can use it too', () => {
    const { before, after } = readMarks(
      ':root{--a:url(«/css/i.png→../css/i.png»);--b:url(j.png)}.--c:hover,a{background:url(«/css/i.png→i.png»),var( --a)}',
    );
    expect(referencesOf(sheet(before))).toEqual(['asset /css/i.png', 'asset /css/j.png', 'asset /css/i.png']);
    expect(rewritten(sheet(before))).toBe(after);
  });

  it('is written from the root in a stylesheet that does not use it, because any file may', () => {
    const { before, after } = readMarks(':root{--a:url(«/i.png→/i.png»);--aa:var(--a-b)}a{b:var(--aa,url(c.png))}');
    expect(rewritten(sheet(before))).toBe(after);
  });

  it('is ignored if it has no file', () => {
    const text = '<p style="--a:url(data:,x);--b:url(#c)">';
    expect(rewritten(page(text))).toBe(text);
  });
});
