import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { galley } from '../helpers/galley.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

const { dependencies, devDependencies, scripts } = z
  .looseObject({
    dependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
    scripts: z.record(z.string(), z.string()),
  })
  .parse(JSON.parse(read('package.json')));

/** `@scope/a`, `b` in one cell mean `@scope/a` and `@scope/b`; `@types/*` means all of them. */
function namedPackages(text: string): Set<string> {
  const names = new Set<string>();
  for (const [, cell = ''] of text.matchAll(/^\| (`[^|]+) \|/gm)) {
    let scope = '';
    for (const [, name = ''] of cell.matchAll(/`([^`]+)`/g)) {
      if (name.startsWith('@')) scope = name.slice(0, name.indexOf('/') + 1);
      names.add(name);
      names.add(scope + name);
    }
  }
  return names;
}

describe('the documentation', () => {
  it('gives a reason for each dependency', () => {
    const named = namedPackages(read('docs/dependencies.md'));
    const all = Object.keys({ ...dependencies, ...devDependencies });
    expect(all.filter((name) => !named.has(name) && !(name.startsWith('@types/') && named.has('@types/*')))).toEqual(
      [],
    );
  });

  it('names only commands that galley has, and all of them', async () => {
    const { stdout } = await galley(['--help']);
    const real = [...stdout.matchAll(/^ {2}([a-z][a-z-]+)/gm)]
      .map(([, command]) => command)
      .filter((name) => name !== 'help');
    const told = [...read('docs/reference/cli.md').matchAll(/`galley ([a-z][a-z-]*)/g)].map(([, command]) => command);
    expect([...new Set(told)].sort()).toEqual([...new Set(real)].sort());
  });

  it('has each guide in its contents once, and nothing there that is missing', () => {
    const links = [...read('docs/.vitepress/config.mts').matchAll(/link: '\/([^']+)'/g)].map(([, link = '']) => link);
    const guides = readdirSync('docs/guide').map((name) => `guide/${name.replace(/\.md$/, '')}`);
    expect(links.filter((link) => link.startsWith('guide/')).sort()).toEqual(guides.sort());
    const pages = links.map((link) => `docs/${link.replace(/\/$/, '/index')}.md`);
    expect(pages.filter((page) => !page.includes('$') && !existsSync(page))).toEqual([]);
  });

  it('leads from the README only to what is there', () => {
    const readme = read('README.md');
    const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => link);
    const folders = [...readme.matchAll(/^\|[^|]+\| `([^`]+\/[^`]*)`/gm)].map(([, path = '']) => path);
    expect(links.length + folders.length).toBeGreaterThan(15);
    expect([...links, ...folders].filter((path) => !existsSync(path))).toEqual([]);
    for (const [, script = ''] of readme.matchAll(/npm run ([a-z:]+)/g)) expect(scripts).toHaveProperty([script]);
  });
});
