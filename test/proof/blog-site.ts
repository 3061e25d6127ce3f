import { PNG } from 'pngjs';
import { type HttpSite, startHttpSite } from '../helpers/http-site.ts';

const POSTS = Array.from({ length: 7 }, (_, index) => ({
  id: 10 + index,
  day: String(index + 1).padStart(2, '0'),
  slug: ['hello-world', 'second', 'größe', 'images', 'embeds', 'lists', 'last'][index] ?? '',
  title: ['Hello world!', 'Second & more', 'Größe', 'Images', 'Embeds', 'Lists', 'Last'][index] ?? '',
  category: index % 2 === 0 ? 'news' : 'tips',
}));
type Post = (typeof POSTS)[number];
const PER_PAGE = 3;
const VERSION = '6.4.3';

const pathOf = ({ day, slug }: Post): string => `/2026/01/${day}/${encodeURIComponent(slug)}/`;
const titleOf = (text: string): string => text.replaceAll('&', '&#038;');

function picture(width: number, height: number, color: readonly number[]): Buffer {
  const png = new PNG({ width, height });
  for (let at = 0; at < png.data.length; at += 4) png.data.set([...color, 255], at);
  return PNG.sync.write(png);
}

const UPLOADS = '/wp-content/uploads/2026/01';
const THEME = '/wp-content/themes/plain';

/** Absolute URLs, versions as queries, escaped slashes in JSON, sizes of images, feeds and an API: as blogs have them. */
function pageOf(root: string, title: string, main: string, more = ''): string {
  const escaped = root.replaceAll('/', '\\/');
  return `<!DOCTYPE html>
<html lang="en-US">
<head>
<meta charset="UTF-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name='robots' content='max-image-preview:large' />
<title>${title}</title>
<link rel='dns-prefetch' href='//fonts.example.com' />
<link rel="alternate" type="application/rss+xml" title="Blog &raquo; Feed" href="${root}/feed/" />
<link rel="alternate" type="application/rss+xml" title="Blog &raquo; Comments Feed" href="${root}/comments/feed/" />
<script>
window._wpemojiSettings = {"baseUrl":"https:\\/\\/s.w.org\\/images\\/core\\/emoji\\/14.0.0\\/72x72\\/","ext":".png","source":{"concatemoji":"${escaped}\\/wp-includes\\/js\\/wp-emoji-release.min.js?ver=${VERSION}"}};
!function(s){var n=document.createElement("script");n.src=s.source.concatemoji;n.defer=!0;document.head.appendChild(n)}(window._wpemojiSettings);
</script>
<style id='global-styles-inline-css'>
body{--wp--preset--color--cyan:#abb8c3;--wp--style--logo:url('${root}${THEME}/logo.png');margin:0 auto;max-width:45rem;padding:1rem}
.site-title{background:var(--wp--style--logo) no-repeat;padding-left:60px;min-height:50px}
</style>
<link rel='stylesheet' id='plain-style-css' href='${root}${THEME}/style.css?ver=1.0' media='all' />
<link rel='stylesheet' id='plain-print-css' href='${root}${THEME}/style.css?ver=1.0&#038;part=print' media='print' />
<script src="${root}/wp-includes/js/jquery/jquery.min.js?ver=3.7.1" id="jquery-core-js"></script>
<link rel="https://api.w.org/" href="${root}/wp-json/" />
<link rel="EditURI" type="application/rsd+xml" title="RSD" href="${root}/xmlrpc.php?rsd" />
<meta name="generator" content="WordPress ${VERSION}" />
<link rel="icon" href="${root}${UPLOADS}/icon-32x32.png" sizes="32x32" />
<meta name="msapplication-TileImage" content="${root}${UPLOADS}/icon-270x270.png" />
${more}</head>
<body class="home blog">
<a class="skip-link" href="#content">Skip to content</a>
<header><p class="site-title"><a href="${root}/" rel="home">Blog</a></p>
<nav><ul><li><a href="${root}/about/">About</a></li><li><a href="${root}/category/news/">News</a></li><li><a href="${root}/category/tips/">Tips</a></li></ul></nav></header>
<main id="content">${main}</main>
<aside><form role="search" method="get" action="${root}/"><label>Search <input type="search" name="s" value="" /></label><button>Search</button></form>
<ul>${POSTS.map((post) => `<li><a href="${root}${pathOf(post)}">${titleOf(post.title)}</a></li>`).join('')}</ul>
<p id="latest"></p><ul><li><a href="${root}/wp-login.php">Log in</a></li><li><a href="${root}/feed/">Entries feed</a></li></ul></aside>
<footer style="background-image:url(${root}${UPLOADS}/footer.png)">&copy; 2026 Blog</footer>
<script id="plain-js-extra">
var plain = {"root":"${escaped}\\/wp-json\\/","chunk":"${escaped}\\/wp-content\\/themes\\/plain\\/late.js?ver=1.0","icon":"${escaped}\\/wp-content\\/uploads\\/2026\\/01\\/icon-32x32.png"};
</script>
<script src="${root}${THEME}/main.js?ver=1.0" id="plain-js" defer data-wp-strategy="defer"></script>
</body>
</html>`;
}

function imageOf(root: string, name: string): string {
  const at = (size: string): string => `${root}${UPLOADS}/${name}${size}.png`;
  const set = `${at('')} 600w, ${at('-300x150')} 300w, ${at('-150x150')} 150w`;
  return `<figure class="wp-block-image size-large"><img loading="lazy" decoding="async" width="600" height="300" src="${at('')}" alt="" class="wp-image-7" srcset="${set}" sizes="(max-width: 600px) 100vw, 600px" /><figcaption>An image</figcaption></figure>`;
}

function articleOf(root: string, post: Post, full: boolean): string {
  const body = full
    ? `<p>Text of ${titleOf(post.title)} with <a href="${root}/?p=${POSTS[0]?.id}">an old link</a>, <a href="/about/">a short one</a> and &#8220;quotes&#8221; &#x1f600;.</p>${imageOf(root, 'photo')}
<p><a href="${root}${UPLOADS}/manual.pdf">Manual</a> <a href="${root}/category/${post.category}/" rel="category tag">${post.category}</a></p>
<section id="comments"><h2>One thought</h2><article id="comment-${post.id}"><p>Nice!</p><a rel='nofollow' class='comment-reply-link' href='${root}${pathOf(post)}?replytocom=${post.id}#respond'>Reply</a></article>
<form action="${root}/wp-comments-post.php" method="post" id="respond"><textarea name="comment"></textarea><input type='hidden' name='comment_post_ID' value='${post.id}' /><button>Post Comment</button></form></section>`
    : `<p>Excerpt of ${titleOf(post.title)} [&hellip;] <a class="more-link" href="${root}${pathOf(post)}#more-${post.id}">Continue</a></p>`;
  return `<article id="post-${post.id}"><h2><a href="${root}${pathOf(post)}" rel="bookmark">${titleOf(post.title)}</a></h2>${body}</article>`;
}

function listOf(root: string, title: string, posts: readonly Post[], base: string, page: number): string {
  const shown = posts.slice((page - 1) * PER_PAGE, page * PER_PAGE);
  const last = Math.ceil(posts.length / PER_PAGE);
  const to = (number: number): string => `${root}${base}${number === 1 ? '' : `page/${number}/`}`;
  const older = page < last ? `<a class="next page-numbers" href="${to(page + 1)}">Next</a>` : '';
  const newer = page > 1 ? `<a class="prev page-numbers" href="${to(page - 1)}">Previous</a>` : '';
  const articles = shown.map((post) => articleOf(root, post, false)).join('');
  return pageOf(root, title, `<h1>${title}</h1>${articles}<nav class="pagination">${newer} ${older}</nav>`);
}

function feedOf(root: string, title: string, posts: readonly Post[]): string {
  const items = posts
    .map(
      (post) =>
        `<item><title>${titleOf(post.title)}</title><link>${root}${pathOf(post)}</link><guid isPermaLink="false">${root}/?p=${post.id}</guid></item>`,
    )
    .join('');
  return `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>${title}</title><atom:link href="${root}/feed/" rel="self" type="application/rss+xml" /><link>${root}</link>${items}</channel></rss>`;
}

const STYLE = `/* Theme Name: Plain */ @import url("parts/base.css?ver=1.0");
footer{padding:1rem;min-height:40px} .wp-block-image img{height:auto;max-width:100%} nav ul{display:flex;gap:1rem;list-style:none}`;
const MAIN = `(function () {
  var script = document.createElement('script');
  script.src = plain.chunk;
  document.body.appendChild(script);
  var icon = new Image();
  icon.src = plain.icon;
  document.querySelector('#latest').appendChild(icon);
})();`;

type Answer = { type: string; body: string | Buffer; headers?: Record<string, string> };
const text = (type: string, body: string | Buffer): Answer => ({ type, body });

function answer(root: string, { pathname, searchParams }: URL): Answer | { location: string } | undefined {
  const path = decodeURIComponent(pathname);
  const [, base = '/', number = '1'] = /^(.*?\/)page\/(\d+)\/$/.exec(path) ?? [undefined, path];
  const html = (body: string, more: Record<string, string> = {}): Answer => ({
    ...{ type: 'text/html; charset=UTF-8', body },
    headers: { link: `<${root}/wp-json/>; rel="https://api.w.org/"`, ...more },
  });
  if (path === '/' && searchParams.has('p')) {
    const named = POSTS.find(({ id }) => String(id) === searchParams.get('p'));
    return named && { location: `${root}${pathOf(named)}` };
  }
  if (base === '/') return html(listOf(root, 'Blog', POSTS, '/', Number(number)));
  const category = /^\/category\/(\w+)\/(feed\/)?$/.exec(base);
  if (category !== null) {
    const posts = POSTS.filter((post) => post.category === category[1]);
    if (category[2] !== undefined) return text('application/rss+xml; charset=UTF-8', feedOf(root, 'Category', posts));
    return html(listOf(root, `Category: ${category[1]}`, posts, base, Number(number)));
  }
  if (path === '/feed/' || path === '/comments/feed/')
    return text('application/rss+xml; charset=UTF-8', feedOf(root, 'Blog', POSTS));
  if (path === '/about/') return html(pageOf(root, 'About', `<h1>About</h1>${imageOf(root, 'photo')}`));
  const post = POSTS.find((each) => decodeURIComponent(pathOf(each)) === path);
  if (post !== undefined) {
    const oembed = `${root}/wp-json/oembed/1.0/embed?url=${encodeURIComponent(root + pathOf(post))}`;
    const more = `<link rel="canonical" href="${root}${pathOf(post)}" /><link rel='shortlink' href='${root}/?p=${post.id}' />
<link rel="alternate" type="application/json+oembed" href="${oembed}" />
<link rel="alternate" type="application/json" href="${root}/wp-json/wp/v2/posts/${post.id}" />`;
    const header = { link: `<${root}/?p=${post.id}>; rel=shortlink` };
    return html(pageOf(root, titleOf(post.title), articleOf(root, post, true), more), header);
  }
  if (path.startsWith('/wp-json/'))
    return text('application/json; charset=UTF-8', JSON.stringify({ name: 'Blog', url: root }));
  return FILES[path];
}

const FILES: Readonly<Record<string, Answer>> = {
  '/wp-includes/js/wp-emoji-release.min.js': text('application/javascript', 'window.twemoji = {};'),
  '/wp-includes/js/jquery/jquery.min.js': text('application/javascript', 'window.jQuery = function () {};'),
  [`${THEME}/style.css`]: text('text/css', STYLE),
  [`${THEME}/parts/base.css`]: text('text/css', 'body{font:16px sans-serif}.skip-link{position:absolute;left:-99rem}'),
  [`${THEME}/main.js`]: text('application/javascript', MAIN),
  [`${THEME}/late.js`]: text(
    'application/javascript',
    "document.querySelector('#latest').appendChild(document.createTextNode(' loaded late'))",
  ),
  [`${THEME}/logo.png`]: text('image/png', picture(50, 50, [180, 0, 90])),
  [`${UPLOADS}/icon-32x32.png`]: text('image/png', picture(32, 32, [0, 90, 180])),
  [`${UPLOADS}/icon-270x270.png`]: text('image/png', picture(270, 270, [0, 90, 180])),
  [`${UPLOADS}/footer.png`]: text('image/png', picture(20, 20, [220, 230, 220])),
  [`${UPLOADS}/photo.png`]: text('image/png', picture(600, 300, [90, 160, 90])),
  [`${UPLOADS}/photo-300x150.png`]: text('image/png', picture(300, 150, [90, 160, 90])),
  [`${UPLOADS}/photo-150x150.png`]: text('image/png', picture(150, 150, [90, 160, 90])),
  [`${UPLOADS}/manual.pdf`]: text('application/pdf', '%PDF-1.4\n%%EOF\n'),
  '/xmlrpc.php': text('text/xml', '<rsd version="1.0"><service/></rsd>'),
  '/wp-login.php': text('text/html', '<!doctype html><title>Log in</title><h1>Log in</h1>'),
};

/** Serves a blog as WordPress writes it: 7 posts, lists in pages, categories, feeds, images in sizes, an API. */
export async function startBlog(): Promise<HttpSite> {
  const site = await startHttpSite((request, response) => {
    const found = answer(site.origin, new URL(request.url ?? '/', site.origin));
    if (found === undefined)
      response.writeHead(404, { 'content-type': 'text/html' }).end(pageOf(site.origin, 'Not found', '<h1>Oops!</h1>'));
    else if ('location' in found) response.writeHead(301, { location: found.location }).end();
    else response.writeHead(200, { 'content-type': found.type, ...found.headers }).end(found.body);
  });
  return site;
}
