import type { Resource, ResourceKind } from '../document/types.ts';
import type { JobCache } from '../job-cache.ts';
import type { ObjectStore } from '../ports.ts';
import { createRecentReadings } from '../recent-readings.ts';

/** What the files of one segment refer to. Pages of a site link to much the same, so each address stands there once. */
export type LinkTable = {
  /** Address and kind of each resource: two lists, for a list of objects takes twice the time and room. */
  urls: readonly string[];
  kinds: readonly ResourceKind[];
  /** Indices into both by the file's offset in the segment. */
  files: Readonly<Record<string, readonly number[]>>;
};

/** What the file at an offset of a segment refers to. */
export type FileLinks = { byteOffset: number; resources: readonly Resource[] };

/** Writes the table of a segment's files, told by their offsets. */
export function encodeLinks(files: readonly FileLinks[]): Buffer {
  // By kind first: to join kind and address to one key would cost more than all the rest, a million times.
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

/** Reads what `encodeLinks` wrote. Throws where it is something else. */
function decodeLinks(text: string): LinkTable {
  const { urls, kinds, files }: LinkTable = JSON.parse(text);
  if (urls.length !== kinds.length) throw new Error('The lists are of different lengths');
  return { urls, kinds, files };
}

/** Where a file and its links lie. */
export type LinkPlace = {
  objectKey: string;
  byteOffset: number;
  extractionLength: number;
  linksOffset: number | null;
  linksLength: number | null;
};

export type LinkTables = {
  /** The table that a file's links are in; undefined where there is none that can be read. Throws `ObjectMissingError`. */
  of(place: LinkPlace): Promise<LinkTable | undefined>;
  /** The table, for those who needn't wait then; undefined also where it wasn't read yet. */
  atHand(place: LinkPlace): LinkTable | undefined;
};

/** Some 100 kB each. Who goes through a site by its links comes back to each table many times: better all are at hand. */
const MAX_TABLES = 512;

/** Reads tables of links, each once while it is in use. */
export function createLinkTables(objects: ObjectStore): LinkTables {
  const tables = createRecentReadings<string, LinkTable | undefined>(MAX_TABLES);

  async function read(objectKey: string, start: number, length: number): Promise<LinkTable | undefined> {
    const bytes = await objects.read(objectKey, { start, end: start + length - 1 });
    try {
      return decodeLinks(bytes.toString('utf8'));
    } catch {
      // Damaged in the store; trying again would find the same.
      return undefined;
    }
  }

  return {
    async of({ objectKey, linksOffset, linksLength }) {
      if (linksOffset === null || linksLength === null) return undefined;
      return tables.of(objectKey, () => read(objectKey, linksOffset, linksLength));
    },
    atHand: ({ objectKey, linksOffset }) => (linksOffset === null ? undefined : tables.atHand(objectKey)),
  };
}

export type LinkTablesFor = (jobId: string) => LinkTables;

/** The same tables for all that takes from a kept crawl for a job in this process; they go with the job. */
export function rememberLinkTables(objects: ObjectStore, jobCache: JobCache): LinkTablesFor {
  const tables = jobCache.place<LinkTables>();
  return (jobId) => tables(jobId, () => createLinkTables(objects));
}

/** The resource that an index of a table stands for. */
export function resourceAt({ urls, kinds }: LinkTable, index: number): Resource | undefined {
  const url = urls[index];
  const kind = kinds[index];
  return url === undefined || kind === undefined ? undefined : { kind, url };
}
