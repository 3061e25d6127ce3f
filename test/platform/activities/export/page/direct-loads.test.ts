import { referencesOf, resourcesOf, rewritten } from './engine.ts';

const script = (text: string) => ({ text, type: 'text/javascript', url: '/assets/app.js' });
const inline = (text: string) => ({ text: `<script>${text}</script>` });

describe('what a script in a page loads by a call', () => {
  it.each([
    ['fetch("/api/state")', 'probe /api/state', 'fetch("../api/state")'],
    [
      "fetch('data.json?v=1', {cache: 'no-store'})",
      'probe /guides/data.json?v=1',
      "fetch('data.json', {cache: 'no-store'})",
    ],
    ['new Worker("/w.js", {type: "module"})', 'probe /w.js', 'new Worker("../w.js", {type: "module"})'],
    ['new SharedWorker(`w.js`)', 'probe /guides/w.js', undefined],
    ['CSS.paintWorklet.addModule("/p.js")', 'probe /p.js', 'CSS.paintWorklet.addModule("../p.js")'],
    ['x.open("GET", "/a.xml")', 'probe /a.xml', 'x.open("GET", "../a.xml")'],
    ['a.src = "/i.png";', 'probe /i.png', 'a.src = "../i.png";'],
    ['a.setAttribute("src", "/i.js")', 'probe /i.js', 'a.setAttribute("src", "../i.js")'],
    ['s.src="https://c.org/m.js?v=1"', 'asset https://c.org/m.js?v=1', 's.src="../_external/c.org/m.055e01147cc8.js"'],
    ['fetch("https://c.org/d.json")', 'asset https://c.org/d.json', 'fetch("../_external/c.org/d.json")'],
    [
      'fetch("https://c.org/d.json", {cache: "no-store"})',
      'asset https://c.org/d.json',
      'fetch("../_external/c.org/d.json", {cache: "no-store"})',
    ],
    ['fetch("/d.json", options)', 'probe /d.json', 'fetch("../d.json", options)'],
    ['fetch("https://docs.example.com/d.json")', 'probe /d.json', 'fetch("../d.json")'],
  ])('is found, and written relative where it is there: %s', (call, found, written = call) => {
    expect(referencesOf(inline(call))).toEqual([found]);
    expect(rewritten(inline(call))).toBe(inline(written).text);
    const missing = () => ({ missing: true as const });
    if (found.startsWith('probe')) expect(rewritten({ ...inline(call), target: missing })).toBe(inline(call).text);
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
  ])('is nothing where it sends something, or only begins with a literal: %s', (call) => {
    expect(referencesOf(inline(call))).toEqual([]);
  });
});

describe('what a script file loads by a call', () => {
  it('is looked for beside it and at the root, and stays as it is', () => {
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

  it('is written from the root where another host has it', () => {
    const text = 'fetch("https://c.org/d.json?v=1").then(a)';
    expect(referencesOf(script(text))).toEqual(['asset https://c.org/d.json?v=1']);
    expect(rewritten(script(text))).toMatch(/^fetch\("\/_external\/c\.org\/d\.[0-9a-f]{12}\.json"\)\.then\(a\)$/);
    expect(rewritten({ ...script(text), target: ({ url }) => ({ absolute: url }) })).toBe(text);
  });

  it('is relative to it in a worker, and where a module resolves it', () => {
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
