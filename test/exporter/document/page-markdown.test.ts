import MarkdownIt from 'markdown-it';
import { pageMarkdown } from '../../../exporter/document/page-markdown.ts';

const read = new MarkdownIt();
/** What a reader of the Markdown sees, without white space between elements. */
const shown = (html: string): string =>
  read
    .render(pageMarkdown(html))
    .replace(/\n(?=<)|\n$/g, '')
    .trim();

describe('a page in Markdown', () => {
  it.each([
    ['<h2>A<a href="#a">¶</a></h2><p>b', '<h2>A</h2><p>b</p>'],
    ['<p>a <b>b</b> <i>c</i> <del>d</del>', '<p>a <strong>b</strong> <em>c</em> <s>d</s></p>'],
    ['<ul><li>a<ul><li>b</ul><li>c</ul>', '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>'],
    ['<ol start=3><li>a<li>b</ol>', '<ol start="3"><li>a</li><li>b</li></ol>'],
    ['<blockquote><p>a<p>b</blockquote>', '<blockquote><p>a</p><p>b</p></blockquote>'],
    ['<p><a href="x (1).html">a <b>b</b></a>', '<p><a href="x%20(1).html">a <strong>b</strong></a></p>'],
    ['<p><img src="a b.png" alt="A">', '<p><img src="a%20b.png" alt="A"></p>'],
    ['<p>a<br>b', '<p>a<br>\nb</p>'],
    ['<p>x</p><hr><p>y', '<p>x</p><hr><p>y</p>'],
    [
      '<table><tr><th>A<th>B|<tr><td>1<td><code>a|b</code></table>',
      '<table><thead><tr><th>A</th><th>B|</th></tr></thead><tbody><tr><td>1</td><td><code>a|b</code></td></tr></tbody></table>',
    ],
    ['<table><tr><td><h2>A</h2><td><ul><li>b</ul></table>', '<h2>A</h2><ul><li>b</li></ul>'],
  ])('shows %s as the page does', (html, expected) => {
    expect(shown(html)).toBe(expected);
  });

  it.each([
    ['# a', '+ a', '- a', '1. a', '> a', '===', '---', '~~~', '```', '~~a~~', '***'],
    ['a_b *c* _d_ `e` [f](g) \\ &lt;b&gt; &amp;lt; http://localhost:8000/x', '!', '|a|'],
  ])('keeps visible text: %s', (...texts) => {
    for (const text of texts) expect(shown(`<p>${text}`)).toBe(`<p>${text.replace(/>(?= )/, '&gt;')}</p>`);
  });

  it('keeps code, with its language', () => {
    const code = 'if (a < b) {\n\n  `x`; ```\n\t*y* \\ http://localhost:8000\n}';
    const html = code.replaceAll('<', '&lt;');
    const markdown = pageMarkdown(`<pre><code class="language-js">\n${html}\n</code></pre>`);
    expect(markdown).toBe(`\`\`\`\`js\n${code}\n\`\`\`\`\n`);
    expect(shown('<p><code>a `b` *c*</code>')).toBe('<p><code>a `b` *c*</code></p>');
    expect(shown('<div class="highlight-python"><pre>a<br>b</pre></div>')).toContain('class="language-python">a\nb');
  });

  it('has the main part only, under the title', () => {
    const page = '<title>A &amp; B</title><nav>n</nav><header>h</header>MAIN<footer>f</footer><script>s</script>';
    const main = '<main><nav>m</nav><p>text<p hidden>x</p></main>';
    expect(pageMarkdown(page.replace('MAIN', main))).toBe('# A \\& B\n\ntext\n');
    expect(pageMarkdown(page.replace('MAIN', '<p>text</p><svg><title>t</title></svg>'))).toBe('# A \\& B\n\ntext\n');
    expect(pageMarkdown('<title>A</title><h1>B</h1>')).toBe('# B\n');
    expect(pageMarkdown('<title>A</title><nav>n</nav>')).toBe('');
  });

  it('rejects what is nested too deeply', () => {
    expect(() => pageMarkdown('<div>'.repeat(1001))).toThrow('nested deeper than 1000');
    expect(pageMarkdown(`${'<blockquote>'.repeat(900)}x`)).toContain('> x');
  });
});
