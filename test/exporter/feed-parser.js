// Feeds 20 deeply nested and 20 very large inputs to a parser of the built product, and prints what became of each. A
// plain script, so that every Node release runs it as it is.
import { gzipSync } from 'node:zlib';
import { nestsTooDeep } from '../../dist/contract/yaml-nesting.js';
import { readSitemap } from '../../dist/exporter/crawl/discover.js';
import { parseResponse } from '../../dist/exporter/crawl/read-response.js';

const DEPTHS = [1_500, 10_000, 100_000, 1_000_000];
const SIZE = 8 * 1024 * 1024;
const site = { domain: 'docs.example.com', origin: 'https://docs.example.com' };

/** By parser: the content type and path, what comes first, five pieces that nest and five that repeat. */
const PARSERS = {
  html: [
    'text/html',
    '/a',
    '',
    ['<div>', '<svg><a>', '<iframe srcdoc="', '<table><td>', '<!--'],
    ['<a href=/x>', '<p>é', '<img srcset="a 1x, b 2x">', '<script>a</script>', ' '],
  ],
  xml: [
    'application/xml',
    '/a.xml',
    '<?xml version="1.0"?><rss>',
    ['<a>', '<![CDATA[', '<link>', '<?a ', '<!DOCTYPE a ['],
    ['<link>https://docs.example.com/a</link>', '<a/>', '&amp;', '<a b="c"/>', '\n'],
  ],
  css: [
    'text/css',
    '/a.css',
    '',
    ['a{', 'url(', '@media{', '(', '['],
    ['a{background:url(b.png)}', '@import "c";', '\\', '"', '/*'],
  ],
  script: [
    'text/javascript',
    '/a.js',
    'r.u=e=>""+e;',
    ['`${', '[', 'if(a);else ', 'a=>', 'a.'],
    ['f(1);', 'import("./a.js");', '"/a/b.js",', '1+', '/a/;'],
  ],
  json: [
    'application/manifest+json',
    '/a.webmanifest',
    '',
    ['[', '{"a":', '[{"icons":', '{"a":[', '"'],
    ['"a",', '{"src":"/a.png"},', '\\"', ',', '1'],
  ],
  pagefind: [
    'application/octet-stream',
    '/pagefind/a.pf_meta',
    '',
    ['\x81', '\xa1a', '\x9f', '\xc1', '\xd8\x1e'],
    ['a', '\x01', '\x80', 'xx', '\xf6'],
  ],
  sitemap: [
    '',
    '',
    '',
    ['<urlset>', '<url><loc>', '<a>', '<![CDATA[', '<!--'],
    ['<url><loc>/a</loc></url>', '&lt;', 'https://a.example/b\n', '<loc>', ' '],
  ],
  yaml: ['', '', '', ['- ', '[', '{a: ', '? ', '&a [*a, '], ['a: b\n', '- c\n', '# d\n', '"e" ', '\n']],
};

function outcomeOf(parser, [contentType, path], text) {
  if (parser === 'yaml') return nestsTooDeep(text) ? 'rejected: it nests too deep' : 'read';
  const bytes = Buffer.from(text, 'latin1');
  if (parser === 'sitemap') return readSitemap(bytes).then(() => 'read');
  const body = parser === 'pagefind' ? gzipSync(bytes) : bytes;
  const rest = { headElements: undefined, nofollow: false, rendered: false };
  const { failure } = parseResponse({ url: `${site.origin}${path}`, site, contentType, body, ...rest });
  return failure === undefined ? 'read' : `unread: ${failure}`;
}

const [, , parser] = process.argv;
const [contentType, path, first, nesting, repeating] = PARSERS[parser];
const deep = nesting.flatMap((piece) => DEPTHS.map((depth) => first + piece.repeat(depth)));
const large = repeating.flatMap((piece) =>
  [1, 2, 3, 4].map((part) => first + piece.repeat((SIZE * part) / 4 / piece.length)),
);
const outcomes = [];
for (const text of [...deep, ...large]) outcomes.push(await outcomeOf(parser, [contentType, path], text));
console.log(JSON.stringify(outcomes));
