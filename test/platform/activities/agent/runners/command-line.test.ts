import { splitCommandLine } from '../../../../../platform/activities/agent/runners/command-line.ts';

describe('a command line', () => {
  it.each([
    ['claude -p --permission-mode acceptEdits', ['claude', '-p', '--permission-mode', 'acceptEdits']],
    ['  a\t b\n', ['a', 'b']],
    [`a 'b c' "d e" f\\ g`, ['a', 'b c', 'd e', 'f g']],
    [`a '' ""`, ['a', '', '']],
    [`a'b'"c"\\d`, ['abcd']],
    [`'$HOME | \\n "'`, ['$HOME | \\n "']],
    [`"\\"\\\\\\$ \\n it's"`, ['"\\$ \\n it\'s']],
    ['a {prompt} *.md ~ #x', ['a', '{prompt}', '*.md', '~', '#x']],
    [`sh -c 'agent "$1" | tee log' sh {prompt}`, ['sh', '-c', 'agent "$1" | tee log', 'sh', '{prompt}']],
  ])('is split as a shell does it, without expansions: %s', (text, words) => {
    expect(splitCommandLine(text)).toEqual(words);
  });

  it.each([
    ['', 'AGENT_COMMAND: expected a command line'],
    ["a 'b", "AGENT_COMMAND: expected a closing '"],
    ['a "b', 'AGENT_COMMAND: expected a closing "'],
    ['a \\', 'AGENT_COMMAND: expected a character after the last backslash'],
    ['a | b', "AGENT_COMMAND: no shell runs it, so | must stand in single quotes; for what a shell does: sh -c '…'"],
    [
      'a "$HOME"',
      "AGENT_COMMAND: no shell runs it, so $ must stand in single quotes; for what a shell does: sh -c '…'",
    ],
    ['a > b', "AGENT_COMMAND: no shell runs it, so > must stand in single quotes; for what a shell does: sh -c '…'"],
  ])('is rejected if it needs a shell or a quote is not closed: %s', (text, problem) => {
    expect(() => splitCommandLine(text)).toThrow(problem);
  });
});
