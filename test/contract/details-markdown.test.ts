import { escapeMarkdown, markdownLink } from '../../contract/details-markdown.ts';

test.each([
  ['https://git.example.com/docs/pulls/7', '[Pull \\#7](https://git.example.com/docs/pulls/7)'],
  ['https://git.example.com/a%20b/(7)', '[Pull \\#7](https://git.example.com/a%20b/%287%29)'],
  ['https://git.example.com/ [x](y)', '[Pull \\#7](https://git.example.com/%20[x]%28y%29)'],
  ['javascript:alert(1)', 'Pull \\#7 javascript:alert\\(1\\)'],
])('a link to %s can be clicked only if it is an http(s) URL, and ends nowhere else', (url, markdown) => {
  expect(markdownLink('Pull #7', url)).toBe(markdown);
});

test('text from outside is no Markdown', () => {
  expect(escapeMarkdown('**bold** <b>\n[x](y)')).toBe('\\*\\*bold\\*\\* \\<b\\> \\[x\\]\\(y\\)');
});
