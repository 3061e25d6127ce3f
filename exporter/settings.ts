import type { ContentCoding } from '../contract/content-coding.ts';
import type { Crawl } from './crawl-records.ts';
import { ExportFailure } from './export-failure.ts';
import type { CrawlStore } from './ports.ts';
import type { ExternalPolicy, Site } from './urls/identity.ts';
import type { TwinForm } from './urls/twin-url.ts';

export type ScriptPolicy = 'auto' | 'keep' | 'strip';
export type SourceMapPolicy = 'omit' | 'keep';

/** An export's settings, fixed when it begins and stored with the crawl. */
export type ExportSettings = {
  jobId: string;
  version: string;
  /** RFC 3339; the manifest's `createdAt`. */
  createdAt: string;
  site: Site;
  /** The operator's origin, as `host:port`: the one private address that may be fetched. */
  operatorHosts: string[];
  external: ExternalPolicy;
  /** Hosts whose files aren't exported; links to them stay. */
  keepHosts: string[];
  scripts: ScriptPolicy;
  sourceMaps: SourceMapPolicy;
  /** `ignore`: robots.txt, its Crawl-delay and every kind of nofollow have no effect on this export. */
  robots: 'respect' | 'ignore';
  /** Whether pages are rendered in a browser. */
  render: 'http' | 'browser';
  /** Whether a browser visits sample pages to find what their scripts load. */
  discover: 'http' | 'browser';
  /** Which precompressed siblings files get, in the order of `CONTENT_CODINGS`. */
  precompress: readonly ContentCoding[];
  /** `pagefind`: the bundle gets a search, unless the site has its own (`planSearch`). */
  search: 'off' | 'pagefind';
  /** `on`: pages without a twin in Markdown get one; missing: those of the origin are kept. */
  markdown?: 'on';
  /** Pages of the bundle that are compared with the origin in a browser; missing: none. */
  prove?: number;
  /** The requested pages, as normalized URLs; null: the whole site. */
  pages: string[] | null;
  robotsTxt: string;
  /** Where each page has a twin in Markdown that nothing names; null or missing: nowhere. */
  twins?: TwinForm | null;
};

/** Reads the settings stored with a crawl. */
export function readExportSettings(json: string): ExportSettings {
  return JSON.parse(json);
}

export type CrawlWithSettings = Crawl & { settings: ExportSettings };

/** A job's crawl with the settings it began with. Throws `CrawlGone` if the job has ended. */
export async function readCrawl(store: CrawlStore, jobId: string): Promise<CrawlWithSettings> {
  const row = await store.getCrawl(jobId);
  if (row === undefined) throw new ExportFailure('CrawlGone', `The export ${jobId} has ended`);
  return { ...row, settings: readExportSettings(row.settingsJson) };
}
