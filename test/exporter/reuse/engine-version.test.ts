import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashProgram } from '../../../exporter/reuse/engine-version.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-engine-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the version of the export engine', () => {
  it('changes with a program file, the package file and the lockfile', async () => {
    const programs = ['export', 'format'].map((name) => join(folder, 'dist', name));
    for (const program of programs) await mkdir(program, { recursive: true });
    const seen = new Set<string>();
    const files = [
      ['package.json', '{}'],
      ['dist/export/a.js', '1'],
      ['dist/export/a.js', '2'],
      ['dist/format/a.js', '1'],
      ['package.json', '{"version":"2.0.0"}'],
      ['package-lock.json', '{}'],
      ['package-lock.json', '{"lockfileVersion":3}'],
    ] as const;
    for (const [name, text] of files) {
      await writeFile(join(folder, name), text);
      seen.add(await hashProgram(programs));
    }
    expect(seen.size).toBe(files.length);
    await writeFile(join(folder, 'dist/export/a.d.ts'), 'types');
    expect(seen).toContain(await hashProgram(programs));
  });
});
