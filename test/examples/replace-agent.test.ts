import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();
const checkout = join(folder, 'checkout');

beforeEach(() => {
  mkdirSync(checkout);
  writeFileSync(join(checkout, 'notes.md'), '# Notes\n\nold and old\n');
});

function run(prompt: string): { code: number | null; said: string } {
  const { status, stdout } = spawnSync(process.execPath, [`${process.cwd()}/examples/replace-agent.js`], {
    cwd: checkout,
    input: prompt,
    encoding: 'utf8',
  });
  return { code: status, said: stdout.trim() };
}

function notes(): string {
  return readFileSync(join(checkout, 'notes.md'), 'utf8');
}

describe('the example agent', () => {
  test('replaces every occurrence, in each sentence of a longer prompt, with lines and quotes as they are', () => {
    const prompt =
      "Please: Replace 'old' with 'it's $& new' in notes.md.\nReplace '# Notes' with '# Notes\n\n* ü' in notes.md!";
    expect(run(prompt)).toEqual({ code: 0, said: 'notes.md: changed in 2 places\nnotes.md: changed in 1 place' });
    expect(notes()).toBe("# Notes\n\n* ü\n\nit's $& new and it's $& new\n");
  });

  test.each([
    ['Rewrite everything', 64, "I only understand: Replace 'A' with 'B' in FILE"],
    ["Replace 'absent' with 'x' in notes.md", 0, 'notes.md: does not have that text'],
  ])('changes nothing for %s, and says why', (prompt, code, said) => {
    expect(run(prompt)).toEqual({ code, said });
    expect(notes()).toBe('# Notes\n\nold and old\n');
  });

  test('takes double quotes too', () => {
    expect(run('Replace "old" with "it\'s new" in notes.md').code).toBe(0);
    expect(notes()).toBe("# Notes\n\nit's new and it's new\n");
  });

  test('fails if the file is missing', () => {
    expect(run("Replace 'old' with 'x' in missing.md")).toEqual({ code: 1, said: 'missing.md: can not be read' });
  });

  test.each(['../outside.md', 'link.md'])('leaves alone what is outside of the checkout: %s', (file) => {
    writeFileSync(join(folder, 'outside.md'), 'old');
    symlinkSync(join(folder, 'outside.md'), join(checkout, 'link.md'));
    expect(run(`Replace 'old' with 'new' in ${file}`)).toEqual({
      code: 1,
      said: `${file}: is not a file of this checkout`,
    });
    expect(readFileSync(join(folder, 'outside.md'), 'utf8')).toBe('old');
  });
});
