import type { FrameworkAdapter, Mention, Patch } from './adapter.ts';

const MARKS = /content="Docusaurus|id="?__docusaurus["\s>]/;
/** How the plugin for local search names its index; `{dir}` is empty but for searches within one part of a site. */
const SEARCH_INDEX = /["'`]search-index\{dir\}\.json/;
const SCRIPTS_FOLDER = '/assets/js/';
const BANNER = '__docusaurus-base-url-issue-banner';
const AWAITED = 'DOMContentLoaded';

/** Docusaurus: every route is a webpack chunk; what is left is the index of its search, and one notice. */
export const docusaurus: FrameworkAdapter = {
  name: 'docusaurus',
  startsByClassicScripts: true,
  detect: (html) => MARKS.test(html),
  discover: () => [],
  discoverInScript: searchIndex,

  /** Pages say that they "did not load properly" where their scripts haven't run by now: here they wait on purpose. */
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
