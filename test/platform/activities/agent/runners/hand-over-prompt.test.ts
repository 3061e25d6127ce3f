import { handOverPrompt } from '../../../../../platform/activities/agent/runners/create-command-runner.ts';

describe('a prompt', () => {
  it.each([
    ['shell metacharacters', '$(touch /tmp/owned) `id` "; rm -rf . #\' && | > & * ? ~ ! \\ {prompt} %s\n--help'],
    ['right-to-left text', 'עברית \u202eevil\u202c العربية 🦀 e\u0301'],
    ['template and header characters', '{{{event}}} <script>\r\nBcc: a@example.com\r\n\r\n'],
    ['blanks at both ends', '\n\n  \r\n\t end without one '],
    ['the form of an option', '--version'],
    ['100,000 characters', `${'a'.repeat(99_999)}é`],
  ])('with %s is passed byte for byte, on standard input or as one argument', (_, prompt) => {
    expect(handOverPrompt(['agent', '-p'], prompt)).toEqual({
      words: ['agent', '-p'],
      stdin: new TextEncoder().encode(prompt),
    });
    expect(handOverPrompt(['agent', '{prompt}', 'x{prompt}'], prompt)).toEqual({
      words: ['agent', prompt, 'x{prompt}'],
      stdin: new Uint8Array(),
    });
  });

  it.each([
    ['a\0b', 'The prompt holds a NUL character, which no argument of a command can hold.'],
    ['漢'.repeat(100_000), 'The prompt has 300000 bytes; an argument of a command holds at most 131071.'],
  ])('that does not fit in an argument is rejected with the reason', (prompt, error) => {
    expect(handOverPrompt(['agent', '{prompt}'], prompt)).toEqual({ error });
    expect(handOverPrompt(['agent'], prompt)).toMatchObject({ stdin: new TextEncoder().encode(prompt) });
  });
});
