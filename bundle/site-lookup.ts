import type { BundleFile, BundleManifest, BundleRedirect, ForeignRules } from '../contract/bundle.ts';
import { fillTarget, HEADERS_PATH, matchPath, REDIRECTS_PATH } from './static-rules.ts';
import { canonicalTarget, decodePath } from './url.ts';

/** What a manifest says of paths and URLs, for those who serve the bundle. */
export type SiteLookup = {
  file(path: string): BundleFile | undefined;
  /** The file with this URL at the origin, if its path in the bundle differs. The URL is canonical, as for redirects. */
  original(url: string): BundleFile | undefined;
  redirect(from: string): BundleRedirect | undefined;
  /** What the bundle's `_redirects` says of a path in plain text, for those before (`force`) or after its files. */
  rule(path: string, force: boolean): BundleRedirect | undefined;
};

export function createSiteLookup({ files, redirects, foreign }: BundleManifest): SiteLookup {
  const isRules = (path: string): boolean => path === REDIRECTS_PATH || path === HEADERS_PATH;
  // Siblings have no URL of their own, because the origin had none.
  const own = files.filter(({ encoding, path }) => encoding === undefined && (foreign === undefined || !isRules(path)));
  const byPath = new Map(own.map((file) => [file.path, file]));
  const byUrl = new Map(own.flatMap((file) => (file.url === undefined ? [] : [[canonicalTarget(file.url), file]])));
  const byOrigin = new Map(
    (foreign === undefined ? redirects : []).map((redirect) => [canonicalTarget(redirect.from), redirect]),
  );
  return {
    file: (path) => byPath.get(path),
    original: (url) => byUrl.get(url),
    redirect: (from) => byOrigin.get(from),
    rule: (path, force) => findRule(foreign?.rules ?? [], path, force),
  };
}

function findRule(rules: ForeignRules['rules'], path: string, force: boolean): BundleRedirect | undefined {
  for (const rule of rules) {
    const values = rule.force === force ? matchPath(rule.from, path) : undefined;
    if (values === undefined) continue;
    const to = fillTarget(rule.to, values);
    // A rule that leads to itself would never end.
    if (rule.status >= 300 && rule.status < 400 && decodePath(to).replace(/\/$/, '') === path.replace(/\/$/, ''))
      continue;
    return { from: path, to, status: rule.status };
  }
  return undefined;
}
