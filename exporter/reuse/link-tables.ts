import type { LinksPlace, StoredFile } from '../crawl-records.ts';
import { createRecentReadings, type JobCache } from '../job-cache.ts';
import type { ExportObjects } from '../ports.ts';
import type { Resource, ResourceKind } from '../urls/identity.ts';

/** The references of all files in one segment. Pages of a site share most links, so each URL is stored once. */
export type LinkTable = {
  /** URL and kind of each resource, as two lists: a list of objects takes twice the time and memory. */
  urls: readonly string[];
  kinds: readonly ResourceKind[];
  /** Indices into both lists, by the file's offset in the segment. */
  files: Readonly<Record<string, readonly number[]>>;
};

/** The references of the file at an offset of a segment. */
export type FileLinks = { byteOffset: number; resources: readonly Resource[] };

/** Serializes the table of a segment's files, which are identified by their offsets. */
export function encodeLinks(files: readonly FileLinks[]): Buffer {
  // By kind first: joining kind and URL into one key, a million times, would cost more than everything else here.
  const known = new Map<ResourceKind, Map<string, number>>();
  const urls: string[] = [];
  const kinds: ResourceKind[] = [];
  const indices: Record<string, number[]> = {};
  for (const { byteOffset, resources } of files) {
    indices[byteOffset] = resources.map(({ kind, url }) => {
      const ofKind = known.get(kind) ?? new Map<string, number>();
      known.set(kind, ofKind);
      const index = ofKind.get(url) ?? urls.length;
      if (index === urls.length) {
        urls.push(url);
        kinds.push(kind);
        ofKind.set(url, index);
      }
      return index;
    });
  }
  return Buffer.from(JSON.stringify({ urls, kinds, files: indices } satisfies LinkTable));
}

/** Parses the output of `encodeLinks`. Throws on anything else. */
function decodeLinks(text: string): LinkTable {
  const { urls, kinds, files }: LinkTable = JSON.parse(text);
  if (urls.length !== kinds.length) throw new Error('The lists are of different lengths');
  return { urls, kinds, files };
}

/** The position of a file's table of links. */
type LinkPlace = LinksPlace & Pick<StoredFile, 'objectKey'>;

export type LinkTables = {
  /** The table with a file's links; undefined if there is no readable one. Throws `ObjectMissingError`. */
  of(place: LinkPlace): Promise<LinkTable | undefined>;
  /** The table without waiting; undefined also if it hasn't been read yet. */
  atHand(place: LinkPlace): LinkTable | undefined;
};

/** Each takes about 100 kB. Following a site's links needs each table many times. */
const MAX_TABLES = 512;

/** A damaged table is cached too: reading it again wouldn't help. */
type StoredTable = LinkTable | 'damaged';

function readable(table: StoredTable | undefined): LinkTable | undefined {
  return table === 'damaged' ? undefined : table;
}

/** Reads link tables and caches them. */
export function createLinkTables(objects: ExportObjects): LinkTables {
  const tables = createRecentReadings<string, StoredTable>(MAX_TABLES);

  async function read(objectKey: string, start: number, length: number): Promise<StoredTable> {
    const bytes = await objects.read(objectKey, { start, end: start + length - 1 });
    try {
      return decodeLinks(bytes.toString('utf8'));
    } catch {
      return 'damaged';
    }
  }

  return {
    async of({ objectKey, linksOffset, linksLength }) {
      if (linksOffset === null || linksLength === null) return undefined;
      return readable(await tables.of(objectKey, () => read(objectKey, linksOffset, linksLength)));
    },
    atHand: ({ objectKey, linksOffset }) => (linksOffset === null ? undefined : readable(tables.atHand(objectKey))),
  };
}

export type LinkTablesFor = (jobId: string) => LinkTables;

/**
 * The link tables of a kept crawl, shared by everything in this process that reuses it for a job; dropped with the job.
 */
export function rememberLinkTables(objects: ExportObjects, jobCache: JobCache): LinkTablesFor {
  const tables = jobCache.place<LinkTables>();
  return (jobId) => tables(jobId, () => createLinkTables(objects));
}

/** The resource at an index of a table. */
export function resourceAt({ urls, kinds }: LinkTable, index: number): Resource | undefined {
  const url = urls[index];
  const kind = kinds[index];
  return url === undefined || kind === undefined ? undefined : { kind, url };
}
