import { resourcesOf } from './engine.ts';

const NEXT_APP =
  '<script src="/_next/static/chunks/1.js" async></script><script>self.__next_f.push([1,"2:[\\"$\\",\\"$L3\\",null,{\\"src\\":\\"/late.js\\",\\"icon\\":\\"/icon.svg?icon.1a.svg\\"}]"])</script>';
const NUXT =
  '<div id="__nuxt"></div><script type="module" src="/docs/_nuxt/a.js"></script><script>window.__NUXT__={};window.__NUXT__.config={app:{baseURL:"/docs/",buildId:"9db5-e0"}}</script>';

const probes = (text: string, url: string, type = 'text/html') => resourcesOf({ text, url, type }, 'probe');

describe('a page of Next’s app router', () => {
  it.each([
    ['/', '/index.txt', '/__next._tree.txt'],
    ['/guides/start', '/guides/start.txt', '/guides/start/__next._tree.txt'],
    ['/guides/start.html', '/guides/start.txt', '/guides/start/__next._tree.txt'],
    ['/guides/start/', '/guides/start/index.txt', '/guides/start/__next._tree.txt'],
    ['/guides/start/index.html', '/guides/start/index.txt', '/guides/start/__next._tree.txt'],
  ])('at %s has data files next to its URL', (url, data, tree) => {
    expect(probes(NEXT_APP, url)).toEqual(expect.arrayContaining([`probe ${data}`, `probe ${tree}`]));
  });

  it('needs the files that its inline data names', () => {
    expect(probes(NEXT_APP, '/guides')).toEqual(expect.arrayContaining(['probe /late.js', 'probe /icon.svg']));
  });
});

describe('the tree of a page of Next', () => {
  const tree = (text: string, type = 'text/plain') =>
    probes(text, '/guides/start/__next._tree.txt', type).map((probe) => probe.replace('probe /guides/start/', ''));
  const always = ['__next._index.txt', '__next._head.txt', '__next._full.txt'];

  it('names the files of its segments, also if its lines refer to each other', () => {
    const text = [
      ':HL["/_next/static/chunks/1.css","style"]',
      '3:[["children",{"s":"__PAGE__","h":160}],["side",{"s":"über","h":1}]]',
      '2:[["children",{"s":{"n":"slug","t":"d","k":"start","s":[]},"c":"$Q3"}]]',
      '1:[["children",{"s":"guides","c":"$Q2"}]]',
      '0:{"b":"B1","t":{"t":{"s":"","h":16,"c":"$Q1"}}}',
    ].join('\n');
    const named = [
      ...['__next.guides.txt', '__next.guides.$d$slug.txt', '__next.guides.$d$slug.__PAGE__.txt'],
      '__next.guides.$d$slug.@side.!_GJlcg.txt',
    ];
    expect(tree(text)).toEqual([...always, ...named]);
    expect(tree(text, 'text/x-component')).toEqual([...always, ...named]);
  });

  it('names them if it is written as one value', () => {
    const page = '{"name":"__PAGE__","paramType":null,"paramKey":"__PAGE__","slots":null}';
    const slug = `{"name":"slug","paramType":"d","paramKey":null,"slots":{"children":${page}}}`;
    const text = `0:{"buildId":"B1","tree":{"name":"","paramType":null,"slots":{"children":${slug}}},"staleTime":300}`;
    expect(tree(text)).toEqual([...always, '__next.$d$slug.txt', '__next.$d$slug.__PAGE__.txt']);
  });

  it('may refer to itself, and names nothing if it is invalid', () => {
    expect(tree('1:[["children",{"s":"a","c":"$Q1"}]]\n0:{"t":{"t":{"s":"","c":"$Q1"}}}').length).toBeLessThan(300);
    expect(tree('0:{"t":{"t":{"s":"","c":"$Q7"}}}')).toEqual(always);
    expect(tree('<!doctype html><title>Not found</title>')).toEqual([]);
    expect(tree('0:[1,2')).toEqual([]);
  });
});

describe('a script of Next', () => {
  it('names chunks by their path below Next’s folder', () => {
    const text = 'e.v(t=>Promise.all(["static/chunks/2h-t5.js","static/chunks/3a.css"].map(t=>e.l(t))).then(()=>t(2)))';
    const found = probes(text, '/docs/_next/static/chunks/0f.js', 'text/javascript');
    const named = ['probe /docs/_next/static/chunks/2h-t5.js', 'probe /docs/_next/static/chunks/3a.css'];
    expect(found).toEqual(expect.arrayContaining(named));
    expect(probes(text, '/other/0f.js', 'text/javascript')).not.toEqual(expect.arrayContaining(named));
  });
});

describe('a page of Nuxt', () => {
  it('needs its payload and its build metadata', () => {
    const needed = ['_nuxt/builds/latest.json', '_nuxt/builds/meta/9db5-e0.json', 'guides/_payload.json'];
    expect(probes(NUXT, '/docs/guides')).toEqual(expect.arrayContaining(needed.map((each) => `probe /docs/${each}`)));
  });
});
