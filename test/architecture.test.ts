import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Who may import whom among the top-level folders. The linter says it in the editor; this resolves every path. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  contract: [],
  forge: ['contract'],
  activities: ['contract', 'forge'],
  workflows: ['contract', 'activities (types)'],
  worker: ['contract', 'activities', 'workflows'],
  api: ['contract', 'workflows'],
  exporter: ['contract'],
  platform: ['contract', 'exporter', 'forge'],
  deployment: ['contract'],
};

type Import = { file: string; folder: string; target: string; targetFolder: string; typeOnly: boolean };

const root = process.cwd();

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const statements = text.matchAll(/^\s*(import|export)\s+(type\s)?[^;'"]*?from\s+'([^']+)'|import\('([^']+)'\)/gm);
  return [...statements].flatMap(([, , type, from, dynamic]) => {
    const specifier = from ?? dynamic;
    if (!specifier?.startsWith('.')) return [];
    const target = relative(root, join(root, dirname(file), specifier));
    const [folder = '', targetFolder = ''] = [file.split('/')[0], target.split('/')[0]];
    return [{ file, folder, target, targetFolder, typeOnly: type !== undefined }];
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

describe('the folders', () => {
  it('import each other only in the directions of the design', () => {
    expect(imports.length).toBeGreaterThan(20);
    expect(imports.filter((each) => !isAllowed(each)).map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
  });

  it('read the environment in no product folder but cli/', () => {
    const readers = folders
      .flatMap(sourceFiles)
      .filter((file) => readFileSync(join(root, file), 'utf8').includes('process.env'));
    expect(readers).toEqual([]);
  });

  it('keep every product file within 250 lines', () => {
    const long = [...folders, 'cli', 'embedded'].flatMap((folder) =>
      sourceFiles(folder)
        .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length - 1 }))
        .filter(({ lines }) => lines > 250),
    );
    expect(long).toEqual([]);
  });
});
