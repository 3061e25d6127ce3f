import { jest } from '@jest/globals';
import { Lexer, parse } from 'yaml';
import { planEditBounded, readSwitchesBounded } from '../../../activities/deployments/bounded-values.ts';
import type { DeploymentWrite } from '../../../activities/deployments/deployment-target.ts';
import { editValues, readSwitches, ValuesFileError } from '../../../activities/deployments/edit-values.ts';
import { planEdit } from '../../../activities/deployments/plan-edit.ts';

const write: DeploymentWrite = {
  ...{ kind: 'deploy', site: 'docs', epoch: 0, sequence: 1, jobId: 'se_1', version: 'v1', newest: true },
  ...{ bundleUrl: 'https://objects.example.com/b?sig=1', expiresAt: '2027-01-01T00:00:00Z', lifetimeMs: 86_400_000 },
};
const BEFORE = 'staticExport:\n  enabled: true # on\n  bundleUrl: old\n';
const AFTER = BEFORE.replace('old', write.bundleUrl);

const services = (count: number): string =>
  Array.from(
    { length: count },
    (_, index) => `s${index}:\n  image: {tag: "1.${index}"}  # &note\n  list:\n    - a\n`,
  ).join('');
const LARGE = services(2_000);

/** How many characters the library reads in this thread meanwhile. */
async function charactersRead(work: () => unknown): Promise<number> {
  const lex = jest.spyOn(Lexer.prototype, 'lex');
  await work();
  const count = lex.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
  lex.mockRestore();
  return count;
}

describe('editing a large values file', () => {
  it.each([
    ['first', BEFORE + LARGE, AFTER + LARGE],
    ['last', LARGE + BEFORE, LARGE + AFTER],
    [
      'between others, after a document mark',
      `---\n${LARGE}${BEFORE}# end\nz: 1\n`,
      `---\n${LARGE}${AFTER}# end\nz: 1\n`,
    ],
  ])('reads the file once if the group stands alone: %s', async (_, text, edited) => {
    let plan: ReturnType<typeof planEdit> | undefined;
    const read = await charactersRead(() => {
      plan = planEdit(write, text, null);
    });
    expect(plan).toMatchObject({ kind: 'edit', text: edited });
    // Once for its nesting and once for its values.
    expect(read / text.length).toBeGreaterThan(1.5);
    expect(read / text.length).toBeLessThan(2.2);
  });

  it.each([
    ['an alias of a value in the group', 'staticExport:\n  bundleUrl: &l old\n', 'copy: *l\n'],
    ['a value from an anchor', 'a: &a old\nstaticExport:\n  bundleUrl: *a\n', ''],
    ['a key with an anchor', '&k staticExport:\n  bundleUrl: old\n', 'copy: *k\n'],
    ['a version of YAML', '%YAML 1.1\n---\nstaticExport:\n  bundleUrl: old\n', ''],
    ['an indented root', '  a: 1\n  staticExport:\n    bundleUrl: old\n', ''],
    ['brackets', '{staticExport: {bundleUrl: old},\nother: 1}', ''],
  ])('changes nothing else if the group has or is %s', (_, text, after) => {
    const edited = parse(editValues(text + after, { enabled: undefined, bundleUrl: 'new' }));
    const { copy, ...others } = parse(text + after);
    expect(edited).toEqual({
      ...others,
      ...(copy !== undefined && { copy: copy === 'old' ? 'new' : copy }),
      staticExport: { bundleUrl: 'new' },
    });
  });

  it('rejects an alias without an anchor elsewhere', () => {
    expect(() => editValues(`${BEFORE}a: *b\n`, { enabled: true, bundleUrl: 'new' })).toThrow(
      'the alias *b at line 4, column 4 has no anchor before it',
    );
  });

  it('ends for merges of merges, each twice in the next', () => {
    const levels = Array.from(
      { length: 80 },
      (_, level) => `a${level + 1}: &a${level + 1} {<<: [*a${level}, *a${level}]}\n`,
    );
    const text = `a0: &a0 {b: 1}\n${levels.join('')}<<: *a80\n`;
    expect(readSwitches(text)).toEqual({ pin: null, off: false });
    expect(readSwitches(text.replace('{b: 1}', '{staticExport: {enabled: off}}')).off).toBe(true);
  });
});

describe('a large values file is read and edited in a thread', () => {
  const text = `${BEFORE.replace('true', 'off')}${LARGE}`;

  it('with the same answer, and nothing is read here', async () => {
    let answers: unknown[] = [];
    const read = await charactersRead(async () => {
      answers = [await planEditBounded(write, text, null), await readSwitchesBounded(text)];
    });
    expect(read).toBe(0);
    expect(answers).toEqual([planEdit(write, text, null), readSwitches(text)]);
  });

  it('with the same error', async () => {
    const invalid = `${text}b: [`;
    await expect(planEditBounded(write, invalid, null)).rejects.toThrow(ValuesFileError);
    await expect(readSwitchesBounded(invalid)).rejects.toThrow(/^not valid YAML: .* at line/);
  });

  it('and a small one here', async () => {
    expect(await charactersRead(() => readSwitchesBounded(BEFORE))).toBeGreaterThan(0);
  });
});
