import type { FrameworkAdapter, Mention, Patch } from './adapter.ts';

const MARKS = /content="Docusaurus|id="?__docusaurus["\s>]/;
/** The index name in the local search plugin; `{dir}` is empty except for searches of one section. */
const SEARCH_INDEX = /["'`]search-index\{dir\}\.json/;
const SCRIPTS_FOLDER = '/assets/js/';
const BANNER = '__docusaurus-base-url-issue-banner';
const AWAITED = 'DOMContentLoaded';

/** Docusaurus: routes are webpack chunks, so only the search index and a banner need handling. */
export const docusaurus: FrameworkAdapter = {
  name: 'docusaurus',
  startsByClassicScripts: true,
  detect: (html) => MARKS.test(html),
  discover: () => [],
  discoverInScript: searchIndex,

  /** The page shows a "did not load properly" banner if its scripts haven't run. In the bundle they wait on purpose. */
  patch(text): Patch[] {
    const banner = text.indexOf(BANNER);
    if (banner < 0) return [];
    const script = text.lastIndexOf('<script', banner);
    const end = text.indexOf('</script', banner);
    const start = text.indexOf(AWAITED, script);
    if (script < 0 || start < 0 || start > end) return [];
    return [{ start, end: start + AWAITED.length, text: 'galley:never' }];
  },
};

function searchIndex(url: string, script: string): Mention[] {
  const folder = url.lastIndexOf(SCRIPTS_FOLDER);
  if (folder < 0 || !SEARCH_INDEX.test(script)) return [];
  return [{ url: `${url.slice(0, folder)}/search-index.json`, kind: 'probe' }];
}
