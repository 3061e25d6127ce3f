import { readMarks, referencesOf, resourcesOf, rewritten } from './engine.ts';

const script = (text: string) => ({ text, type: 'text/javascript', url: '/assets/app.js' });
const inline = (text: string) => ({ text: `<script>${text}</script>` });

describe('a file that an inline script loads by a call', () => {
  it.each([
    ['fetch("«/api/state→../api/state»")', 'probe /api/state'],
    ["fetch('«data.json?v=1→data.json»', {cache: 'no-store'})", 'probe /guides/data.json?v=1'],
    ['new Worker("«/w.js→../w.js»", {type: "module"})', 'probe /w.js'],
    ['new SharedWorker(`w.js`)', 'probe /guides/w.js'],
    ['CSS.paintWorklet.addModule("«/p.js→../p.js»")', 'probe /p.js'],
    ['x.open("GET", "«/a.xml→../a.xml»")', 'probe /a.xml'],
    ['a.src = "«/i.png→../i.png»";', 'probe /i.png'],
    ['a.setAttribute("src", "«/i.js→../i.js»")', 'probe /i.js'],
    ['s.src="«https://c.org/m.js?v=1→../_external/c.org/m.055e01147cc8.js»"', 'asset https://c.org/m.js?v=1'],
    ['fetch("«https://c.org/d.json→../_external/c.org/d.json»")', 'asset https://c.org/d.json'],
    ['fetch("«https://c.org/d.json→../_external/c.org/d.json»", {cache: "no-store"})', 'asset https://c.org/d.json'],
    ['fetch("«/d.json→../d.json»", options)', 'probe /d.json'],
    ['fetch("«https://docs.example.com/d.json→../d.json»")', 'probe /d.json'],
  ])('is found, and rewritten as relative if it exists: %s', (call, found) => {
    const { before, after } = readMarks(call);
    expect(referencesOf(inline(before))).toEqual([found]);
    expect(rewritten(inline(before))).toBe(inline(after).text);
    const missing = () => ({ missing: true as const });
    if (found.startsWith('probe')) expect(rewritten({ ...inline(before), target: missing })).toBe(inline(before).text);
  });

  it.each([
    'fetch("/a", {method: "POST"})',
    'fetch("/a", {body, method})',
    'fetch("https://c.org/f/abc", {"method": "POST"})',
    'fetch("https://c.org/f/abc", options)',
    'fetch("https://c.org/f/abc", form ? {} : options)',
    'fetch("https://c.org/f/abc", { headers: {}, ...options })',
    'fetch("/a" + b)',
    ['fetch(`/a/$', '{b}`)'].join(''),
    'prefetch("/a")',
    'a.src = "/a/" + b',
    'a.src = "https://video.org/embed/1"',
    'x.open("POST", "/a")',
    'fetch("blob:https://docs.example.com/x")',
  ])('is ignored if the call sends data or the literal is only a part of the URL: %s', (call) => {
    expect(referencesOf(inline(call))).toEqual([]);
  });
});

describe('a file that a script file loads by a call', () => {
  it('is probed next to the script and at the root, and the script stays unchanged', () => {
    const text = 'fetch("index.bin"); new Worker("./w.js"); fetch("/api/x")';
    expect(resourcesOf(script(text))).toEqual([
      'probe /assets/index.bin',
      'probe /index.bin',
      'probe /assets/w.js',
      'probe /w.js',
      'probe /api/x',
    ]);
    expect(rewritten(script(text))).toBe(text);
  });

  it('gets a URL from the root if it comes from another host', () => {
    const text = 'fetch("https://c.org/d.json?v=1").then(a)';
    expect(referencesOf(script(text))).toEqual(['asset https://c.org/d.json?v=1']);
    expect(rewritten(script(text))).toMatch(/^fetch\("\/_external\/c\.org\/d\.[0-9a-f]{12}\.json"\)\.then\(a\)$/);
    expect(rewritten({ ...script(text), target: ({ url }) => ({ absolute: url }) })).toBe(text);
  });

  it('gets a URL relative to the script in workers and with import.meta.resolve', () => {
    const text = 'importScripts("/a.js", \'https://c.org/b.js\', "d.js"); import.meta.resolve("/e.js")';
    expect(referencesOf(script(text))).toEqual([
      'asset /a.js',
      'asset https://c.org/b.js',
      'asset /assets/d.js',
      'asset /e.js',
    ]);
    expect(rewritten(script(text))).toBe(
      'importScripts("../a.js", \'../_external/c.org/b.js\', "d.js"); import.meta.resolve("../e.js")',
    );
  });
});
