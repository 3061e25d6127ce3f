import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { choosePlan, describePlan } from './choose.ts';
import { playRound } from './round.ts';

/** Its choices: a killed S3 server, stopped and ended programs, cut connections, and full disks. */
const SEED = 1;

const folder = temporaryFolder();

it('a round of random faults loses, doubles, mixes and leaks nothing', async () => {
  const plan = choosePlan(SEED);
  const trace: string[] = [];
  const { violations, noVerdict, counts, lastWords } = await playRound(plan, { log: (line) => trace.push(line) });
  if (violations.length > 0 || noVerdict !== null)
    process.stderr.write(`${describePlan(plan)}\n${trace.join('\n')}\n${lastWords}\n`);
  expect({ violations, noVerdict }).toEqual({ violations: [], noVerdict: null });
  expect(counts.publishes).toBeGreaterThan(3);
  expect(counts.faults).toBeGreaterThan(3);
});

it('a run that is ended leaves no process and no file', async () => {
  // The database runs as another user.
  await chmod(folder, 0o755);
  const args = ['--import', './scripts/typescript.js', 'test/chaos/main.ts', '--trace'];
  const run = spawn(process.execPath, args, {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: run.stdout })) {
    lines.push(line);
    // The first step, in a world that has started.
    if (/^ +\d+ ms/.test(line) && !run.killed) run.kill('SIGTERM');
  }
  if (run.exitCode === null) await once(run, 'exit');
  expect(lines.filter((line) => line.includes('no verdict'))).toEqual(['seed 1: no verdict: Error: ended by SIGTERM']);
  expect(run.exitCode).toBe(1);
  expect(await readdir(folder)).toEqual([]);
  expect((await execa('pgrep', ['-f', folder], { reject: false })).stdout).toBe('');
});
