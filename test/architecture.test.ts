import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** The top-level folders that each part of the product may import. */
const PARTS: Record<string, readonly string[]> = {
  base: [],
  contract: ['base'],
  client: ['base', 'contract'],
  forge: ['base', 'contract'],
  bundle: ['base', 'contract'],
  activities: ['base', 'contract', 'bundle', 'client', 'forge'],
  workflows: ['base', 'contract', 'activities (types)'],
  worker: ['base', 'contract', 'activities', 'workflows'],
  ui: ['base'],
  web: ['base', 'contract', 'ui'],
  api: ['base', 'contract', 'workflows', 'ui', 'web'],
  exporter: ['base', 'contract', 'bundle'],
  platform: ['base', 'contract', 'bundle', 'exporter', 'forge', 'ui', 'web'],
  deployment: ['base', 'contract', 'bundle'],
  proof: ['base', 'contract', 'bundle', 'deployment', 'exporter'],
};

/** The commands start the programs, which compose the parts. No arrow goes back. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  ...PARTS,
  embedded: ['contract', 'base'],
  programs: [...Object.keys(PARTS), 'embedded'],
  cli: [...Object.keys(PARTS), 'embedded', 'programs'],
};

/**
 * The rooms of a folder, from top to bottom: a room imports only itself and rooms of lower lines. A room is a folder or
 * a file, and `*` is all files beside them that have no line of their own.
 */
const ROOMS: Record<string, readonly string[]> = {
  deployment: ['*', 'fetch serve', 'values', 'site.ts errors.ts'],
  exporter: [
    'export-site.ts export-deps.ts',
    'processes',
    'crawl',
    'assemble',
    'render reuse store search',
    'fetch',
    'document',
    '*',
    'urls',
  ],
  programs: ['up.ts', 'up', '*', 'parts', 'temporal', 'tracing', 'config process', 'settings'],
};

/** Packages that a folder must not import. */
const MAY_NOT_IMPORT: Record<string, RegExp> = {
  // Workflow code is deterministic.
  workflows: /^node:/,
  // The exporter runs without Temporal and without a database.
  exporter: /^(@temporalio\/|drizzle-orm(\/|$)|pg$)/,
};

type Import = { file: string; folder: string; target: string; targetFolder: string; typeOnly: boolean };

const root = process.cwd();

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));
}

const IMPORTS =
  /^\s*(?:import|export)\s+(type\s)?[^;'"]*?from\s+'([^']+)'|^\s*import\s+'([^']+)'|import\('([^']+)'\)/gm;

function specifiersOf(file: string): { specifier: string; typeOnly: boolean }[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(IMPORTS)].map(([, type, from, sideEffect, dynamic]) => ({
    specifier: from ?? sideEffect ?? dynamic ?? '',
    typeOnly: type !== undefined,
  }));
}

function importsOf(file: string): Import[] {
  return specifiersOf(file).flatMap(({ specifier, typeOnly }) => {
    if (!specifier.startsWith('.')) return [];
    const target = relative(root, join(root, dirname(file), specifier));
    const [folder = '', targetFolder = ''] = [file.split('/')[0], target.split('/')[0]];
    return [{ file, folder, target, targetFolder, typeOnly }];
  });
}

const folders = Object.keys(MAY_IMPORT).filter((name) =>
  readdirSync(root, { withFileTypes: true }).some((entry) => entry.isDirectory() && entry.name === name),
);
const imports = folders.flatMap(sourceFiles).flatMap(importsOf);

function isAllowed({ folder, targetFolder, typeOnly }: Import): boolean {
  const allowed = MAY_IMPORT[folder] ?? [];
  return (
    folder === targetFolder ||
    allowed.includes(targetFolder) ||
    (typeOnly && allowed.includes(`${targetFolder} (types)`))
  );
}

/** The room of a file and the line it is on. */
function roomOf(path: string): { room: string; line: number } {
  const [folder = '', inside = ''] = path.split('/');
  const lines = (ROOMS[folder] ?? []).map((line) => line.split(' '));
  const isFile = path.split('/').length === 2;
  const room = isFile && !lines.flat().includes(inside) ? '*' : inside;
  return { room, line: lines.findIndex((rooms) => rooms.includes(room)) };
}

function goesDown({ file, target }: Import): boolean {
  const [from, to] = [roomOf(file), roomOf(target)];
  return from.line >= 0 && to.line >= 0 && (from.room === to.room || from.line < to.line);
}

describe('the folders', () => {
  it('import each other only in the directions of the design', () => {
    expect(imports.length).toBeGreaterThan(20);
    expect(imports.filter((each) => !isAllowed(each)).map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
  });

  it('have rooms that import each other only downwards', () => {
    const inside = imports.filter(({ folder, targetFolder }) => folder === targetFolder && folder in ROOMS);
    expect(inside.length).toBeGreaterThan(20);
    expect(inside.filter((each) => !goesDown(each)).map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
  });

  it('import no packages that they must run without', () => {
    const wrong = Object.entries(MAY_NOT_IMPORT).flatMap(([folder, packages]) =>
      sourceFiles(folder).flatMap((file) =>
        specifiersOf(file)
          .filter(({ specifier }) => packages.test(specifier))
          .map(({ specifier }) => `${file} → ${specifier}`),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('give workflows only files of base/ without Node built-ins', () => {
    const baseImports = (file: string): string[] =>
      importsOf(file).flatMap(({ target, targetFolder, typeOnly }) =>
        typeOnly || targetFolder !== 'base' ? [] : [target],
      );
    // The list grows while it is walked.
    const reached = new Set(sourceFiles('workflows').flatMap(baseImports));
    for (const file of reached) for (const target of baseImports(file)) reached.add(target);
    expect(reached.size).toBeGreaterThan(0);
    const builtIn = [...reached].filter((file) => specifiersOf(file).some(({ specifier }) => /^node:/.test(specifier)));
    expect(builtIn).toEqual([]);
  });

  it('read the environment only in programs/, and in embedded/ for the servers that it starts', () => {
    const readers = folders
      .filter((folder) => !['programs', 'embedded'].includes(folder))
      .flatMap(sourceFiles)
      // A child process may get all of it.
      .filter((file) => /(?<!\.\.\.)process\.env/.test(readFileSync(join(root, file), 'utf8')));
    expect(readers).toEqual([]);
  });

  it('send requests of undici only through base/request.ts, whose bodies may fail while nothing reads them', () => {
    const direct = folders
      .flatMap(sourceFiles)
      .filter((file) => /\b(?:request|stream|pipeline)\b.*from 'undici'/.test(readFileSync(join(root, file), 'utf8')));
    expect(direct).toEqual(['base/request.ts']);
  });

  it('open no connection to Temporal whose waiting retry would end the process when the connection closes', () => {
    const ofTests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join('test', file));
    const opening = /\bConnection\.(?:lazy|connect)\([^)]*\)/g;
    const unguarded = [...folders.flatMap(sourceFiles), ...ofTests].flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(opening)]
        .filter(([call]) => !/RECEIVER_CONNECTION|PATIENT_CONNECTION|interceptors/.test(call))
        .map(([call]) => `${file}: ${call}`),
    );
    expect(unguarded).toEqual([]);
  });
});
