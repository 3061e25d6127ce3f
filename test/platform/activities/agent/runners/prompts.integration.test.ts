import { createCommandRunner } from '../../../../../platform/activities/agent/runners/create-command-runner.ts';
import { common, createRunnerRig, logger, type RunnerRig } from './runner-rig.ts';

let rig: RunnerRig;
beforeAll(async () => {
  rig = await createRunnerRig();
});
afterAll(() => rig?.remove());

const PROMPTS = {
  'shell metacharacters': '$(touch /tmp/owned) `id` "; rm -rf . #\' && | > & * ? ~ ! \\ {prompt} %s\n--help',
  'right-to-left text and more': 'עברית \u202eevil\u202c العربية 🦀 e\u0301',
  'template and header characters': '{{{event}}} <script>\r\nBcc: a@example.com\r\n\r\n',
  'line ends and blanks': '\n\n  \r\n\t end without one',
  'an option': '--version',
} as const;

const hex = (text: string): string => Buffer.from(text, 'utf8').toString('hex');

describe.each(['on', 'off'] as const)('a prompt, with the sandbox %s', (sandbox) => {
  const received = async (command: string, prompt: string) =>
    await rig.run(createCommandRunner({ ...common, sandbox, command, model: 'x', logger }), prompt);
  const BY_INPUT = "node -e 'process.stdin.toArray().then((all) => console.log(Buffer.concat(all).toString(`hex`)))'";
  const BY_ARGUMENT =
    "node -e 'console.log(Buffer.from(process.argv[1]).toString(`hex`), process.argv.length)' -- {prompt} last";

  it.each(Object.entries(PROMPTS))(
    'arrives to the byte on standard input and as an argument: %s',
    async (_, prompt) => {
      expect((await received(BY_INPUT, prompt)).output.trim()).toBe(hex(prompt));
      expect((await received(BY_ARGUMENT, prompt)).output.trim()).toBe(`${hex(prompt)} 3`);
    },
  );

  it('arrives to the byte with 100,000 characters', async () => {
    const prompt = `${'a'.repeat(99_999)}é`;
    expect((await received(BY_INPUT, prompt)).output.trim()).toBe(hex(prompt));
    expect((await received(BY_ARGUMENT, prompt)).output.trim()).toBe(`${hex(prompt)} 3`);
  });

  it('arrives to the byte with NUL, on standard input', async () => {
    const prompt = 'before\0after\0';
    expect((await received(BY_INPUT, prompt)).output.trim()).toBe(hex(prompt));
  });

  it('fails in a sentence where no argument can hold it', async () => {
    expect((await received(BY_ARGUMENT, 'a\0b')).outcome).toEqual({
      kind: 'failed',
      error: 'The prompt holds a NUL character, which no argument of a command can hold.',
    });
    expect((await received(BY_ARGUMENT, '漢'.repeat(100_000))).outcome).toEqual({
      kind: 'failed',
      error: 'The prompt has 300000 bytes; an argument of a command holds at most 131071.',
    });
  });

  it('may stay unread', async () => {
    expect((await received('true', 'a'.repeat(100_000))).outcome).toEqual({ kind: 'unchanged' });
  });
});
