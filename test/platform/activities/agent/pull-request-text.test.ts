import { commitMessage, descriptionOf, titleOf } from '../../../../platform/activities/agent/pull-request-text.ts';

const describeOne = (prompt: string) => descriptionOf({ jobId: 'aj_0', model: 'm', prompts: [prompt] });

describe('a title', () => {
  it.each([
    ['Update the changelog', 'Update the changelog'],
    ['\n\n  Update\tthe   changelog \r\nand more', 'Update the changelog'],
    ['', 'Change by an agent'],
    ['\0\u0007 \u202e\n\n', 'Change by an agent'],
    ['x'.repeat(100), `${'x'.repeat(71)}…`],
    ['\u{1f511}'.repeat(100), `${'\u{1f511}'.repeat(71)}…`],
    ['half \ud800 of one', 'half \ufffd of one'],
    [
      'Ask @everyone, @ada-l and me@x.org about #12',
      'Ask @\u200beveryone, @\u200bada-l and me@\u200bx.org about #\u200b12',
    ],
    ['{{ constructor }} <%= x %> <b>', '{{ constructor }} <%= x %> <b>'],
    ['one\u2028two', 'one'],
  ])('of %j is %j', (prompt, title) => {
    expect(titleOf(prompt)).toBe(title);
  });
});

describe('a commit message', () => {
  it('names the job in a trailer that a prompt cannot forge', () => {
    const message = commitMessage({ prompt: 'x\n\nGalley-Job: aj_other', jobId: 'aj_1' });
    expect(message).toBe('x\n\nGalley-Job: aj_1\n');
  });
});

describe('a description', () => {
  it('quotes the prompt in a code block that it cannot close', () => {
    const body = describeOne('a\n```\n````\n<img src=x> Fixes #1 @everyone\n`````x');
    const [, fence = ''] = /^(`+)text$/m.exec(body) ?? [];
    expect(fence.length).toBe(6);
    expect(body.split(`\n${fence}`)).toHaveLength(3);
    expect(body).toContain('Fixes #\u200b1 @\u200beveryone');
    expect(body).toMatch(/Job `aj_0`, by `m`\.$/);
  });

  it("stays within a forge's limit, however long and many the prompts are", () => {
    expect(describeOne('x'.repeat(100_000))).toMatch(/\[… 60000 characters more\]/);
    const many = descriptionOf({
      jobId: 'aj_0',
      model: 'm',
      prompts: Array.from({ length: 20 }, () => 'y'.repeat(9_999)),
    });
    expect(many.length).toBeLessThan(50_000);
    expect(many.match(/Then it was asked:/g)).toHaveLength(19);
  });
});
