import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMarkdownRenderer } from 'vitepress';
import { z } from 'zod';
import { createGlob } from '../../base/glob.ts';
import { createOpenApiDocument } from '../../platform/api/openapi/routes.ts';
import { VARIABLE_NAMES } from '../../programs/settings/environment.ts';
import { galley } from '../helpers/galley.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

const { dependencies, devDependencies, scripts } = z
  .looseObject({
    dependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
    scripts: z.record(z.string(), z.string()),
  })
  .parse(JSON.parse(read('package.json')));

const operation = z.looseObject({ responses: z.record(z.string(), z.looseObject({})) });
const { paths } = z
  .looseObject({ paths: z.record(z.string(), z.record(z.string(), operation)) })
  .parse(createOpenApiDocument({ publicUrl: 'http://127.0.0.1' }));

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

  it('names exactly the existing galley commands', async () => {
    const { stdout } = await galley(['--help']);
    const real = [...stdout.matchAll(/^ {2}([a-z][a-z-]+)/gm)]
      .map(([, command]) => command)
      .filter((name) => name !== 'help');
    const documented = [...read('docs/reference/cli.md').matchAll(/`galley ([a-z][a-z-]*)/g)].map(
      ([, command]) => command,
    );
    expect([...new Set(documented)].sort()).toEqual([...new Set(real)].sort());
  });

  it('links from the README only to existing paths and scripts', () => {
    const readme = read('README.md');
    const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => link);
    const folders = [...readme.matchAll(/^\|[^|]+\| `([^`]+\/[^`]*)`/gm)].map(([, path = '']) => path);
    expect(links.length + folders.length).toBeGreaterThan(15);
    expect([...links, ...folders].filter((path) => !existsSync(path))).toEqual([]);
    for (const [, script = ''] of readme.matchAll(/npm run ([a-z:]+)/g)) expect(scripts).toHaveProperty([script]);
  });

  it('has the page and the heading of each of its links', async () => {
    const markdown = await createMarkdownRenderer('docs', { highlight: (code) => code });
    const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((file) =>
      /^[^.].*\.md$/.test(file),
    );
    const rendered = pages.map((page) => [page, markdown.render(read(join('docs', page)), { path: page })] as const);
    const targets = new Set(
      rendered.flatMap(([page, html]) => [
        page,
        ...[...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => `${page}#${id}`),
      ]),
    );
    const links = rendered.flatMap(([page, html]) =>
      [...html.matchAll(/<a href="((?![a-z]+:)[^"]+)"/g)].map(([, href = '']) => {
        const { pathname, hash } = new URL(href, `docs:/${page}`);
        return { page, href, target: `${pathname.slice(1).replace(/(\.html|\.md)?$/, '.md')}${decodeURI(hash)}` };
      }),
    );
    expect(links.length).toBeGreaterThan(300);
    expect(links.filter(({ target }) => !targets.has(target.replace(/(^|\/)\.md/, '$1index.md')))).toEqual([]);
  });

  it('names every environment variable that is read, once', () => {
    const cells = [...read('docs/reference/environment.md').matchAll(/^\| (`[^|]+) \|/gm)];
    const named = cells.flatMap(([, cell = '']) => [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name));
    // Variables of Temporal's own clients are documented by Temporal.
    const ofTemporal = ['TEMPORAL_NAMESPACE', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'];
    expect(named.sort()).toEqual(VARIABLE_NAMES.filter((name) => !ofTemporal.includes(name)).sort());
  });

  it('names exactly the endpoints of the Admin API with their statuses', () => {
    const rows = read('docs/reference/admin-api.md').matchAll(
      /^\| `([A-Z]+) ([^`?]+)[^`]*`[^|]*\| (\d+)[^|]*\| ([\d ]+) \|$/gm,
    );
    const named = [...rows].map(([, method, path, success, errors]) => `${method} ${path}: ${success} ${errors}`);
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => {
        // Every endpoint may respond with these, and the page says so once.
        const statuses = Object.keys(responses).filter((status) => !['500', '503'].includes(status));
        return `${method.toUpperCase()} ${path}: ${statuses.join(' ')}`;
      }),
    );
    expect(named.sort()).toEqual(served.sort());
  });

  it('names exactly the existing metrics', () => {
    // Temporal's exporter adds `_total`.
    const nameOf = (text: string) => text.replace(/_total$/, '');
    const namesIn = (text: string) => [...new Set(text.match(/\bgalley_[a-z_]+/g)?.map(nameOf))].sort();
    const files = ['activities', 'api', 'deployment', 'exporter', 'platform', 'programs', 'worker', 'workflows']
      .flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
      )
      .filter((file) => /\.tsx?$/.test(file));
    const ofMetrics = files.map(read).filter((text) => /\b(?:Counter|Gauge|Histogram)\(|\bmetricMeter\b/.test(text));
    expect(namesIn(read('docs/operate/monitoring.md'))).toEqual(namesIn(ofMetrics.join('\n')));
  });

  it('names exactly the existing test files in its table of claims', () => {
    const [, table = ''] = read('docs/development.md').split('## Claims');
    const rows = [...table.matchAll(/^\| .+ \| `(.+)` \| .+ \|$/gm)];
    const patterns = rows.flatMap(([, cell = '']) =>
      patternsOf(cell).map((pattern) => ({ pattern, names: createGlob(pattern) })),
    );
    const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((file) =>
      /\.test\.tsx?$/.test(file),
    );
    expect(files.filter((file) => !patterns.some(({ names }) => names(file)))).toEqual([]);
    expect(patterns.filter(({ names }) => !files.some((file) => names(file))).map(({ pattern }) => pattern)).toEqual(
      [],
    );
  });
});

/** `a/b.test.ts, c.test.ts` means a file beside the first one; `a/{b,c}.test.ts` means both. */
function patternsOf(cell: string): string[] {
  let folder = '';
  return cell.split(/, (?![^{]*\})/).flatMap((part) => {
    if (part.includes('/')) folder = part.slice(0, part.lastIndexOf('/') + 1);
    const pattern = part.includes('/') ? part : folder + part;
    const [braces, names = ''] = /\{(.*)\}/.exec(pattern) ?? [];
    return braces === undefined ? [pattern] : names.split(',').map((name) => pattern.replace(braces, name));
  });
}
