import type { Command } from 'commander';
import { createProgram } from '../../cli/program.ts';

/** Services, and commands whose output is only for people. */
const WITHOUT_JSON = [
  'up',
  'api',
  'worker',
  'platform',
  'platform-worker',
  'agent-worker',
  'deployment',
  'migrate',
  'demo',
  'complete',
];

/** The commands of the contract that no other list here contains. */
const STEERING = [
  ...[
    'list',
    'status',
    'export',
    'refresh',
    'pause',
    'resume',
    'rollback',
    'approve',
    'reject',
    'rename',
    'remove',
  ].map((name) => `sites ${name}`),
  ...['list', 'show', 'changes', 'cancel'].map((name) => `exports ${name}`),
  ...['list', 'show', 'message', 'cancel', 'archive', 'remove'].map((name) => `agents ${name}`),
  ...['list', 'show', 'run-again'].map((name) => `deliveries ${name}`),
  ...['add', 'set', 'list', 'remove'].map((name) => `projects ${name}`),
  ...['logs', 'gc', 'backup', 'restore', 'init', 'doctor', 'open', 'config check', 'completion'],
];

function leaves(command: Command, path: readonly string[] = []): [name: string, command: Command][] {
  if (command.commands.length === 0) return [[path.join(' '), command]];
  return command.commands.flatMap((child) => leaves(child, [...path, child.name()]));
}

const commands = leaves(await createProgram());

/** The output of `--help`. */
function helpOf(command: Command): string {
  const written: string[] = [];
  const write = process.stdout.write;
  process.stdout.write = (text: string | Uint8Array) => {
    written.push(String(text));
    return true;
  };
  try {
    command.outputHelp();
  } finally {
    process.stdout.write = write;
  }
  return written.join('');
}

test('the commands of the contract exist', () => {
  expect(commands.map(([name]) => name)).toEqual(expect.arrayContaining(STEERING));
});

test.each(commands)('galley %s: its help fits 80 columns, and it has --json if it prints data', (name, command) => {
  const help = helpOf(command);
  expect(help.split('\n').filter((line) => line.length > 80 && line.trim().includes(' '))).toEqual([]);
  expect(command.description() === '' && name !== 'complete').toBe(false);
  expect(command.options.some(({ long }) => long === '--json')).toBe(!WITHOUT_JSON.includes(name));
});

test('help keeps its two columns, however long the arguments of a command are', async () => {
  for (const command of (await createProgram()).commands.filter(({ commands: children }) => children.length > 0)) {
    const [, list = ''] = helpOf(command).split('\nCommands:\n');
    const starts = list.split('\n').map((line) => /^ {2}\S.*? {2,}(?=\S)|^ +/.exec(line)?.[0].length);
    expect([command.name(), ...new Set(starts.filter((start) => start !== undefined))]).toHaveLength(2);
  }
});

test('a program with one command has that command only, and one with an unknown command has all', async () => {
  const whole = (await createProgram()).commands.map((command) => command.name());
  for (const only of whole.filter((name) => !['completion', 'complete'].includes(name))) {
    expect((await createProgram({ only })).commands.map((command) => command.name())).toEqual([only]);
  }
  for (const only of ['exprot', 'constructor', 'completion', '--version']) {
    expect((await createProgram({ only })).commands).toHaveLength(whole.length);
  }
});
