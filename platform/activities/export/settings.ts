import type { ExternalPolicy, ScriptPolicy, Site } from './page/types.ts';

/** What an export goes by, fixed when it begins and stored with the crawl. */
export type ExportSettings = {
  jobId: string;
  version: string;
  /** RFC 3339; the manifest's `createdAt`. */
  createdAt: string;
  site: Site;
  /** The operator's origin, as `host:port`: the one private address that may be fetched. */
  operatorHosts: string[];
  external: ExternalPolicy;
  /** Hosts whose files stay links. */
  keepHosts: string[];
  scripts: ScriptPolicy;
  /** The pages asked for, as normalised addresses; null: the whole site. */
  pages: string[] | null;
  robotsTxt: string;
};
