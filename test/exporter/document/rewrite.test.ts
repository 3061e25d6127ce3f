import type { Target } from '../../../exporter/document/types.ts';
import type { Resource } from '../../../exporter/urls/identity.ts';
import { rewritten } from './engine.ts';

const to = (found: Target) => (_: Resource) => found;

describe('a rewritten page', () => {
  it('links to the target of a redirect, with its fragment unless the link has one', () => {
    const target = to({ path: 'new/place.html', fragment: '#there' });
    expect(rewritten({ text: '<a href="/old"><a href="/old#here">', target })).toBe(
      '<a href="../new/place.html#there"><a href="../new/place.html#here">',
    );
  });

  it('links to missing pages at their public URL', () => {
    const text = '<a href="/gone#x"><a href="http://127.0.0.1:8080/gone"><a href="https://docs.example.com/gone">';
    expect(rewritten({ text, target: to({ missing: true }) })).toBe(
      '<a href="https://docs.example.com/gone#x"><a href="https://docs.example.com/gone"><a href="https://docs.example.com/gone">',
    );
  });

  it('never requests a missing asset from the origin', () => {
    const text =
      '<img src="/gone.png"><img src="http://127.0.0.1:8080/gone.png"><img src="//cdn.example.org/gone.png">';
    expect(rewritten({ text, target: to({ missing: true }) })).toBe(
      '<img src="../gone.png"><img src="../gone.png"><img src="https://cdn.example.org/gone.png">',
    );
  });

  it('links to another site if a redirect leads there', () => {
    const target = to({ absolute: 'https://other.org/a?b&c"d' });
    expect(rewritten({ text: `<a href="https://docs.example.com/old"><a href='/old'>`, target })).toBe(
      `<a href="https://other.org/a?b&amp;c&quot;d"><a href='https://other.org/a?b&amp;c"d'>`,
    );
  });

  it('escapes a link for its context', () => {
    const target = to({ path: `it's "quoted" & (50%), ok,.html` });
    const link = `../it%27s%20%22quoted%22%20%26%20%2850%25%29,%20ok,.html`;
    const text = `<a href="/x"><a href='/x'><a href=/x><p style="a:url(/x)"><img srcset="/x 2x"><script type=module>import '/x'</script>`;
    expect(rewritten({ text, target })).toBe(
      `<a href="${link}"><a href='${link}'><a href=${link}><p style="a:url(${link})"><img srcset="${link} 2x"><script type=module>import '${link}'</script>`,
    );
  });

  it('encodes a comma at the end of a srcset candidate', () => {
    const text = '<img srcset="/x 2x, /x">';
    expect(rewritten({ text, target: to({ path: 'guides/x,' }) })).toBe('<img srcset="x%2C 2x, x%2C">');
  });

  it('removes integrity and crossorigin from local files, and keeps them on files of other hosts', () => {
    const text =
      '<script src="//c.org/a.js" integrity="sha256-x" crossorigin></script><img crossorigin=anonymous src=/i.png>';
    expect(rewritten({ text, target: to({ path: 'a.js' }) })).toBe('<script src="../a.js"></script><img src=../a.js>');
    expect(rewritten({ text, target: ({ url }) => ({ absolute: url }) })).toBe(
      '<script src="https://c.org/a.js" integrity="sha256-x" crossorigin></script><img src=../i.png>',
    );
  });

  it('has no connection hints to hosts whose files are bundled', () => {
    const text = '<link rel="preconnect" href="https://f.org"><link rel="dns-prefetch" href="//f.org"><p>';
    expect(rewritten({ text })).toBe('<p>');
    expect(rewritten({ text, policy: { external: 'keep' } })).toBe(text);
    expect(rewritten({ text, policy: { keepHosts: ['f.org'] } })).toBe(text);
    expect(rewritten({ text, policy: { keepHosts: ['g.org'] } })).toBe('<p>');
  });

  it('declares its charset after the doctype if only the header did', () => {
    expect(rewritten({ text: '<!-- a --><!doctype html><p>é' })).toBe(
      '<!-- a --><!doctype html><meta charset="utf-8"><p>é',
    );
    expect(rewritten({ text: '<!doctype html><head><title>é' })).toContain('<head><meta charset="utf-8"><title>');
    expect(rewritten({ text: '\ufeff<p>é' })).toBe('\ufeff<p>é');
  });

  it('has a content security policy that allows its own files', () => {
    const policy =
      "default-src 'none'; img-src https://i.org; script-src 'nonce-x' 'strict-dynamic'; object-src 'none'; upgrade-insecure-requests; frame-ancestors 'none'";
    const text = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
    expect(rewritten({ text })).toBe(
      `<meta http-equiv="Content-Security-Policy" content="default-src 'self' file: 'unsafe-inline'; img-src https://i.org 'self' file:; script-src 'self' file: 'unsafe-inline'; object-src 'none'">`,
    );
  });

  it('has no script, handler or script preload with `strip`, but keeps structured data', () => {
    const text =
      '<link rel=modulepreload href="/a.js"><script src="/a.js"></script><p onclick="x()">a</p>' +
      '<script type="application/ld+json">{}</script><script>b()</script>';
    expect(rewritten({ text, policy: { scripts: 'strip' } })).toBe(
      '<link rel=galley-modulepreload href="../a.js"><p>a</p><script type="application/ld+json">{}</script>',
    );
  });

  it('without a framework keeps its scripts unchanged', () => {
    const text = '<script type="module" src="a.js"></script><script defer src="b.js"></script><p onclick="x()">';
    expect(rewritten({ text })).toBe(text);
  });
});

describe('a page that a framework hydrates', () => {
  const page = (scripts: string) =>
    `<!doctype html><html><head>${scripts}</head><body><div id="__nuxt"></div></body></html>`;

  it('holds back its scripts and preloads until the guard at its end confirms its URL', () => {
    const text = page(
      '<link rel="modulepreload" href="/_nuxt/a.js"><link rel=stylesheet href="/a.css"><script>x=1</script>' +
        '<script type="module" src="/_nuxt/a.js" crossorigin></script><script src="/_nuxt/b.js" defer></script>',
    );
    const result = rewritten({ text });
    expect(result).toContain(
      '<link rel="galley-modulepreload" href="../_nuxt/a.js"><link rel=stylesheet href="../a.css"><script>x=1</script>' +
        '<script type="galley/held" data-galley-type="module" src="../_nuxt/a.js"></script>' +
        '<script type="galley/held" src="../_nuxt/b.js" defer></script>',
    );
    expect(result).toMatch(/<div id="__nuxt"><\/div><script>\(function\(\)\{.*"\/guides\/start".*<\/script><\/body>/);
  });

  it('has all its scripts with `keep`, and none with `strip`', () => {
    const text = page('<script type="module" src="/_nuxt/a.js"></script>');
    expect(rewritten({ text, policy: { scripts: 'keep' } })).toBe(text.replace('/_nuxt', '../_nuxt'));
    expect(rewritten({ text, policy: { scripts: 'strip' } })).not.toContain('<script');
  });

  it('has a guard that is escaped for any path', () => {
    const url = "/a'b</script>%22&\u00e9".replace('</script>', '%3C/script%3E');
    const guard =
      /.*<script>(.*)<\/script><\/body>/.exec(rewritten({ text: page('<script>1</script>'), url }))?.[1] ?? '';
    expect(guard).not.toMatch(/[<&]|[^\x20-\x7e]/);
    expect(guard).toContain('(function(){');
  });
});

describe('the not-found page', () => {
  it('has the root as its base, because hosts show it at any URL', () => {
    const text = '<html><head></head><body><a href="/a"><a href="#x"></body></html>';
    expect(rewritten({ text, ownPath: '404.html' })).toMatch(
      /^<html><head><script>.*createElement\("base"\).*<\/script><\/head><body><a href="a.html"><a href="#x"><\/body>/,
    );
  });
});
