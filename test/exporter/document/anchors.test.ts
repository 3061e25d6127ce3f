import { hashesOf, readIds } from '../../../exporter/document/anchors.ts';
import { extractFrom } from './engine.ts';

/** The fragments of a page's links to itself that lead nowhere, and whether its ids are known. */
function read(text: string, type?: string): { missing: string[]; isKnown: boolean } {
  const { anchors } = extractFrom({ text, ...(type !== undefined && { type }) });
  const links = anchors?.links ?? [];
  const missing = links.filter(([resource]) => resource < 0).map(([, fragment]) => fragment);
  return { missing, isKnown: anchors?.ids !== undefined };
}

/** What a link to another page needs: whether that page has what the fragment names. */
function has(page: string, fragment: string): boolean {
  const { anchors } = extractFrom({ text: page });
  const ids = new Set(readIds(anchors?.ids ?? ''));
  return hashesOf(fragment).some((hash) => ids.has(hash));
}

describe('the anchors of a page', () => {
  it.each([
    ['<p id=here><a href="#here">', []],
    ['<a name="here"><a href=" #here ">', []],
    ['<p name="here"><a href="#here">', ['here']],
    ['<p id="Here"><a href="#here">', ['here']],
    ['<p id="über"><a href="#über"><a href="#%C3%BCber"><a href="#%c3%bcber">', []],
    ['<p id="a%20b"><a href="#a%20b">', []],
    ['<p id="a b"><a href="#a%20b"><a href="#a b">', []],
    ['<p id="a&amp;b"><a href="#a&amp;b">', []],
    ['<a href="#"><a href="#top"><a href="#TOP">', []],
    ['<a href="#:~:text=some"><a href="#here:~:text=some"><p id="here">', []],
    ['<a href="#gone:~:text=some">', ['gone']],
    ['<a href="#/route"><a href="#!route"><a href="#tab=2">', []],
    ['<svg><g id="here"/></svg><a href="#here">', []],
    ['<svg><use href="#gone"/></svg>', []],
    ['<noscript><p id="here"></noscript><a href="#here">', []],
    ['<!-- <p id="here"> --><a href="#here">', ['here']],
    ['<iframe srcdoc="<a href=#gone>"></iframe>', []],
    ['<a href="#gone"><area href="#gone"><a href="#lost">', ['gone', 'lost']],
  ])('%s lacks %j', (text, missing) => {
    expect(read(text).missing).toEqual(missing);
  });

  it('are those of XHTML too', () => {
    const page = '<html xmlns="http://www.w3.org/1999/xhtml"><p id="here"/><a href="#here"/><a href="#gone"/></html>';
    expect(read(page, 'application/xhtml+xml')).toEqual({ missing: ['gone'], isKnown: true });
  });

  it('are known for a page with scripts only if its own links lead to two of them', () => {
    const script = '<script src="/app.js"></script>';
    expect(read(`${script}<p id="a"><a href="#a"><a href="#gone">`)).toEqual({ missing: ['gone'], isKnown: false });
    expect(read(`${script}<p id="a"><p id="b"><a href="#a"><a href="#b">`)).toEqual({ missing: [], isKnown: true });
    expect(read(`<script type="text/template"></script><a href="#gone">`).isKnown).toBe(true);
  });

  it('are unknown if the end of the page was not read', () => {
    expect(read('<a href="#gone"><textarea><p id="gone">').isKnown).toBe(false);
  });

  it('can be looked up by the fragments of other pages', () => {
    const page = '<h2 id="größe">';
    expect(['größe', 'gr%C3%B6%C3%9Fe', 'gr%F6sse', '%', ''].map((fragment) => has(page, fragment))).toEqual([
      ...[true, true, false, false, false],
    ]);
    const { anchors, resources } = extractFrom({
      text: '<a href="/b#one">1</a><a href="/b#two">2</a><a href="/b">3</a>',
    });
    expect(anchors?.links.map(([resource, fragment]) => [resources[resource]?.url, fragment])).toEqual([
      ['https://docs.example.com/b', 'one'],
      ['https://docs.example.com/b', 'two'],
    ]);
  });
});
