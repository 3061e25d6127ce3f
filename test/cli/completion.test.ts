import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { galleyHere } from '../helpers/galley.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();

beforeEach(() =>
  writeFile(join(folder, 'galley.yaml'), 'sites:\n  docs: {webhooks: {sanity: {secret: x}}}\n  drafts: {domain: 1}\n'),
);

/** The candidates that the shell scripts get for these words. The last word is incomplete. */
async function candidates(...words: string[]): Promise<string[]> {
  const { code, stdout } = await galleyHere(['complete', '--', ...words], {}, folder);
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.pop()).toBe(':4');
  return lines.map((line) => line.split('\t')[0] ?? '');
}

test('commands, subcommands, options and their values are completed', async () => {
  expect(await candidates('do')).toEqual(['doctor']);
  expect(await candidates('')).not.toContain('complete');
  expect(await candidates('sites', 're')).toEqual(['refresh', 'resume', 'reject', 'rename', 'remove']);
  expect(await candidates('sites', 'status', '--j')).toEqual(['--json']);
  expect(await candidates('organizations', 'set', 'acme', '--plan', '')).toEqual(['enterprise', 'free']);
});

test('names of sites, sources and deployments come from galley.yaml, also from one with mistakes', async () => {
  expect(await candidates('sites', 'pause', '')).toEqual(['docs', 'drafts']);
  expect(await candidates('sites', 'rename', 'manual', '')).toEqual(['docs', 'drafts']);
  expect(await candidates('webhook', 'send', 'docs', '')).toEqual(['sanity']);
  const deployments = 'deployments: [{valuesFile: a, name: staging}, {valuesFile: b}]';
  await writeFile(join(folder, 'galley.yaml'), `sites: {docs: {export: {${deployments}}}}`);
  expect(await candidates('sites', 'approve', 'docs', '--deployment', '')).toEqual(['staging']);
  await writeFile(join(folder, 'galley.yaml'), 'sites: [');
  expect(await candidates('sites', 'pause', '')).toEqual([]);
});

test('--json prints the script that a shell evaluates', async () => {
  const { stdout: script } = await galleyHere(['completion', 'bash'], {}, folder);
  expect(script).toContain('galley complete --');
  const { stdout } = await galleyHere(['completion', 'bash', '--json'], {}, folder);
  expect(JSON.parse(stdout)).toEqual({ shell: 'bash', script });
});

test('an unknown shell is rejected', async () => {
  expect(await galleyHere(['completion', 'tcsh'], {}, folder)).toMatchObject({ code: 2 });
});
