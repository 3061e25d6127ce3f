// Counts the structure of a checkout: sizes, imports between the rooms of a folder, how many files a way passes through,
// repeated code, and names that several files define. Prints one row per figure, to compare two checkouts:
//   node scripts/structure.js [FOLDER] [--names] [--exports] [--repeats] [--rooms FOLDER]   (the options list what was counted)
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    names: { type: 'boolean' },
    exports: { type: 'boolean' },
    repeats: { type: 'boolean' },
    rooms: { type: 'string', multiple: true },
  },
});
const root = positionals[0] ?? '.';
const tracked = execFileSync('git', ['-C', root, 'ls-files', '*.ts', '*.tsx'], { encoding: 'utf8' }).split('\n');
const code = tracked.filter((file) => file !== '' && existsSync(join(root, file)));
const tests = code.filter((file) => file.startsWith('test/'));
const product = code.filter((file) => !/^(test|docs|bench|scripts)\//.test(file));
const texts = new Map(code.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

const IMPORT =
  /^\s*(?:import|export)\s+(type\s)?([^;'"]*?)from\s+'([^']+)'|^\s*import\s+'([^']+)'|import\('([^']+)'\)|new URL\('(\.[^']+\.ts)'/gm;

/** The imports of a file: the file imported, whether only types are, and the names in the braces. */
function readImports(file) {
  return [...texts.get(file).matchAll(IMPORT)].flatMap(([, type, names = '', ...specifiers]) => {
    const specifier = specifiers.find((each) => each !== undefined);
    const target = normalize(join(dirname(file), specifier));
    return specifier.startsWith('.') && texts.has(target) ? [{ target, typeOnly: type !== undefined, names }] : [];
  });
}
const imports = new Map(code.map((file) => [file, readImports(file)]));

const lines = (files) => files.reduce((sum, file) => sum + texts.get(file).split('\n').length - 1, 0);

/** The files that run for an entry: all that it imports, directly or not, without types. */
function reach(entries) {
  const seen = new Set();
  const follow = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const { target, typeOnly } of imports.get(file)) if (!typeOnly) follow(target);
  };
  for (const entry of entries) follow(findFile(entry));
  return seen;
}

/** An entry is named by the end of its path, so that it is found in both checkouts. */
function findFile(ending) {
  const found = product.filter((file) => file === ending || file.endsWith(`/${ending}`));
  if (found.length !== 1) throw new Error(`${ending}: ${found.length} files in ${root}`);
  return found[0];
}

/** The rooms of a folder: its direct folders, what runs them (files that nothing in the folder imports), and the other top files. */
function roomImports(folder, { withTypes }) {
  const files = product.filter((file) => file.startsWith(`${folder}/`));
  const imported = new Set(files.flatMap((file) => imports.get(file).map(({ target }) => target)));
  const room = (file) => {
    const [first, ...rest] = file.slice(folder.length + 1).split('/');
    if (rest.length > 0) return first;
    return imported.has(file) ? '(top files)' : '(what runs)';
  };
  const pairs = new Set();
  for (const file of files) {
    for (const { target, typeOnly } of imports.get(file)) {
      if (!target.startsWith(`${folder}/`) || (typeOnly && !withTypes)) continue;
      if (room(file) !== room(target)) pairs.add(`${room(file)} → ${room(target)}`);
    }
  }
  return { pairs: [...pairs].sort(), cyclic: cyclicRooms([...pairs]) };
}

function cyclicRooms(pairs) {
  const edges = pairs.map((pair) => pair.split(' → '));
  const reachable = (from) => {
    const seen = new Set();
    const queue = [from];
    while (queue.length > 0) {
      const at = queue.pop();
      for (const [a, b] of edges) {
        if (a !== at || seen.has(b)) continue;
        seen.add(b);
        queue.push(b);
      }
    }
    return seen;
  };
  return [...new Set(edges.flat())].filter((name) => reachable(name).has(name));
}

/** Imports of product files that form a cycle when the program runs. */
function importCycles() {
  const state = new Map();
  let cycles = 0;
  const visit = (file) => {
    state.set(file, 'open');
    for (const { target, typeOnly } of imports.get(file)) {
      if (typeOnly) continue;
      if (state.get(target) === 'open') cycles += 1;
      else if (!state.has(target)) visit(target);
    }
    state.set(file, 'done');
  };
  for (const file of product) if (!state.has(file)) visit(file);
  return cycles;
}

const EXPORTED = /^export (?:async )?(?:abstract )?(?:function\*?|const|class|type|interface|let) (\w+)/gm;
const exported = product.flatMap((file) => [...texts.get(file).matchAll(EXPORTED)].map(([, name]) => ({ file, name })));

/** Names that files export for different things. Drivers of one port share their names: they are in one folder. */
function severalMeanings() {
  const files = new Map();
  for (const { file, name } of exported) files.set(name, [...(files.get(name) ?? []), file]);
  return [...files].filter(([, all]) => new Set(all.map(dirname)).size > 1);
}

/** Exports that no other file imports by name. */
function unusedExports() {
  const used = new Set();
  for (const file of code) {
    for (const { target, names } of imports.get(file)) {
      for (const name of names.match(/\w+/g) ?? []) used.add(`${target} ${name}`);
      if (names.includes('*')) used.add(`${target} *`);
    }
  }
  const dynamic = new Set(
    code.flatMap((file) =>
      [...texts.get(file).matchAll(/(?:import\('|new URL\(')(\.[^']+)'/g)].map(([, each]) =>
        normalize(join(dirname(file), each)),
      ),
    ),
  );
  return exported.filter(
    ({ file, name }) => !used.has(`${file} ${name}`) && !used.has(`${file} *`) && !dynamic.has(file),
  );
}

const RUN = 6;

/** Product lines in runs of six or more that stand in several places, without blank lines, comments and imports. */
function repeatedLines() {
  const runs = new Map();
  for (const file of product) {
    const own = texts
      .get(file)
      .split('\n')
      .map((text, index) => ({ text: text.trim(), at: index + 1 }))
      .filter(({ text }) => text.length > 3 && !/^(\/\/|\/\*|\*|import |export \*|\} from )/.test(text));
    for (let start = 0; start + RUN <= own.length; start += 1) {
      const part = own.slice(start, start + RUN);
      const key = part.map(({ text }) => text).join('\n');
      runs.set(key, [...(runs.get(key) ?? []), part.map(({ at }) => `${file}:${at}`)]);
    }
  }
  return [...new Set([...runs.values()].filter((places) => places.length > 1).flat(2))];
}

/** The changes that docs/development.md describes by a table with one row per file. */
function listedChanges() {
  const sections = readFileSync(join(root, 'docs/development.md'), 'utf8').split(/^## /m).slice(1);
  return sections.flatMap((section) => {
    const [, table] = section.split(/^\| file \| content \|\n.*\n/m);
    return table === undefined
      ? []
      : [[section.split('\n', 1)[0], /^(?:\|.*\n)*/.exec(table)[0].split('\n').length - 1]];
  });
}

function print(figure, value, list) {
  console.log(`${figure.padEnd(58)} ${value}`);
  for (const row of list ?? []) console.log(`    ${row}`);
}

print('product: files, lines', `${product.length}, ${lines(product)}`);
print('tests: files, lines', `${tests.length}, ${lines(tests)}`);
print('import cycles between product files, at run time', importCycles());
for (const folder of new Set(['exporter', 'programs', ...(options.rooms ?? [])])) {
  if (!product.some((file) => file.startsWith(`${folder}/`))) continue;
  const all = roomImports(folder, { withTypes: true });
  const byValue = roomImports(folder, { withTypes: false });
  const figures = `${all.pairs.length} imports, ${all.cyclic.length} rooms on a cycle (${byValue.cyclic.length} at run time)`;
  print(`rooms of ${folder}/`, figures, options.rooms?.includes(folder) ? all.pairs : []);
}
const ways = {
  'a webhook to the served version': [
    ...['api/receive.ts', 'api/dispatch.ts', 'workflows/export-site.ts', 'activities/admin-api/activities.ts'],
    ...['activities/deployments/activities.ts', 'deployment/deployment.ts'],
  ],
  'a page: crawled and rewritten': ['crawl/visit.ts', 'rewrite-batch.ts'],
  "a prompt's mail": ['workflows/agent-change.ts', 'send-once.ts'],
};
for (const [name, entries] of Object.entries(ways)) print(`files of ${name}`, reach(entries).size);
const several = severalMeanings();
print(
  'names that files of several folders export',
  several.length,
  options.names && several.map(([name, at]) => `${name}: ${at.join(', ')}`),
);
const unused = unusedExports();
print(
  'exports without an importer',
  unused.length,
  options.exports && unused.map(({ file, name }) => `${file}: ${name}`),
);
const repeated = repeatedLines();
print('product lines that stand again in a run of six', repeated.length, options.repeats && repeated.sort());
for (const [change, files] of listedChanges()) print(`files to touch for: ${change}`, files);
