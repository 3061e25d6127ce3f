import { pathOfSibling } from '../bundle/manifest.ts';
import { createSiteLookup, type SiteLookup } from '../bundle/site-lookup.ts';
import { matchPath } from '../bundle/static-rules.ts';
import type { BundleFile, BundleManifest, ForeignRules } from '../contract/bundle.ts';

/** One unpacked version, ready to be served. A request holds it until its last byte. */
export type ServedSite = SiteLookup & {
  manifest: BundleManifest;
  /** The version's name on the disk: SHA-256 of the archive, or of the manifest if only parts of it were fetched. */
  archiveSha256: string;
  /** SHA-256 of the manifest's bytes, which name all files: equal for equal versions. */
  manifestSha256: string;
  /** The folder with the site's files. */
  root: string;
  /** When the version was complete on the disk, by the file system's clock. */
  storedAtMs: number;
  /** The page in Markdown: a file as it is sent instead of the page, with that type and `markdown` set. */
  twin(page: BundleFile): BundleFile | undefined;
  /** The file's precompressed siblings, smallest first. */
  siblings(path: string): readonly BundleFile[];
  /** What the bundle's `_headers` says of a file. */
  headers(file: BundleFile): ForeignHeaders;
  /** Keeps the folder until the returned function is called. */
  hold(): () => void;
  /** Resolves when no request holds it. */
  idle(): Promise<void>;
};

/** Headers to set and names to leave out. */
export type ForeignHeaders = { set: Readonly<Record<string, string>>; unset: readonly string[] };

const NO_HEADERS: ForeignHeaders = { set: {}, unset: [] };

export function createSite(
  root: string,
  archiveSha256: string,
  manifest: BundleManifest,
  { manifestSha256 = '', storedAtMs = 0 }: Partial<Pick<ServedSite, 'manifestSha256' | 'storedAtMs'>> = {},
): ServedSite {
  const { foreign } = manifest;
  const lookup = createSiteLookup(manifest);
  const twins = new Map(manifest.files.flatMap(({ markdown }) => twinAt(markdown, lookup)));
  const siblings = siblingsByPath(manifest.files);
  let holders = 0;
  let waiting: (() => void)[] = [];

  return {
    ...lookup,
    manifest,
    archiveSha256,
    manifestSha256,
    root,
    storedAtMs,
    twin: ({ markdown }) => (markdown === undefined ? undefined : twins.get(markdown)),
    siblings: (path) => siblings.get(path) ?? [],
    headers: (file) => (foreign === undefined ? NO_HEADERS : headersOf(foreign.headers, file)),
    hold() {
      holders += 1;
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        holders -= 1;
        if (holders > 0) return;
        for (const resume of waiting) resume();
        waiting = [];
      };
    },
    async idle() {
      while (holders > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}

/** Rules are for URLs: a page has one without its name's end. */
function headersOf(rules: ForeignRules['headers'], { path }: BundleFile): ForeignHeaders {
  const urls = new Set([`/${path}`, `/${path}`.replace(/(?:index)?\.html$/, '')]);
  const set: Record<string, string> = {};
  const unset: string[] = [];
  for (const rule of rules) {
    if (![...urls].some((url) => matchPath(rule.from, url) !== undefined)) continue;
    unset.push(...rule.unset);
    for (const name of rule.unset) delete set[name.toLowerCase()];
    for (const [name, value] of rule.set) {
      const before = set[name.toLowerCase()];
      set[name.toLowerCase()] = before === undefined ? value : `${before}, ${value}`;
    }
  }
  return { set, unset };
}

function twinAt(path: string | undefined, { file: fileAt }: SiteLookup): [string, BundleFile][] {
  const file = path === undefined ? undefined : fileAt(path);
  if (path === undefined || file === undefined) return [];
  const isNamed = /^text\/markdown\b/i.test(file.contentType);
  // Origins send other types, such as text/plain.
  return [
    [path, { ...file, markdown: path, contentType: isNamed ? file.contentType : 'text/markdown; charset=utf-8' }],
  ];
}

function siblingsByPath(files: readonly BundleFile[]): Map<string, BundleFile[]> {
  const siblings = new Map<string, BundleFile[]>();
  for (const file of files) {
    if (file.encoding === undefined) continue;
    const path = pathOfSibling(file.path);
    const known = siblings.get(path) ?? [];
    siblings.set(
      path,
      [...known, file].sort((a, b) => a.size - b.size),
    );
  }
  return siblings;
}
