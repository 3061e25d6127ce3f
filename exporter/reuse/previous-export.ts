import type { Logger } from 'pino';
import { addressLiesFarOff } from '../crawl/endless-paths.ts';
import type { KnownFile } from '../crawl-records.ts';
import type { Resource } from '../document/types.ts';
import { ObjectMissingError } from '../ports.ts';
import type { KnownFiles } from './known-files.ts';
import { type LinkTable, type LinkTables, resourceAt } from './link-tables.ts';

/** What the project's last export stored for an address, and what it refers to. */
export type KnownAnswer = {
  file: KnownFile;
  /** All that it refers to. */
  resources(): readonly Resource[];
  /**
   * What it refers to and no answer before it that was taken over: pages of a site link to much the same, and this
   * crawl is told of each link but once; again only where the page it stands on could make it count after all, being
   * nearer to the start page, or no part of the same calendar. Call it for an answer that is taken over.
   */
  newResources(from: { depth: number }): Resource[];
};

export type KnownAnswers = {
  /** Undefined where there is nothing to take over. */
  of(url: string): Promise<KnownAnswer | undefined>;
  /** The same for those who needn't wait then; undefined also where something is to be read for it. */
  atHand(url: string): KnownAnswer | undefined;
};

function withoutLinks(file: KnownFile): KnownAnswer {
  return { file, resources: () => [], newResources: () => [] };
}

/** Deeper than any crawl goes. */
const NEVER = 0xff_ff;

/**
 * Reads what a kept crawl knows, for one activity that crawls: another one may have died before it stored the links
 * that it was told of.
 */
export function createKnownAnswers(
  { links, logger }: { links: LinkTables; logger: Logger },
  files: KnownFiles,
  /** Of the crawl that takes over; RFC 3339. */
  createdAt: string,
): KnownAnswers {
  const year = new Date(createdAt).getUTCFullYear();
  /** The least depth at which each link of a table was told. */
  const told = new WeakMap<LinkTable, Uint16Array>();

  /** The links of a table that nobody was told of yet, which from now on is no longer so. */
  function tellNew(table: LinkTable, indices: readonly number[], depth: number): Resource[] {
    const depths = told.get(table) ?? new Uint16Array(table.urls.length).fill(NEVER);
    told.set(table, depths);
    const at = Math.min(depth, NEVER - 1);
    const resources: Resource[] = [];
    for (const index of indices) {
      if ((depths[index] ?? NEVER) <= at) continue;
      const resource = resourceAt(table, index);
      if (resource === undefined) continue;
      if (!addressLiesFarOff(resource.url, year)) depths[index] = at;
      resources.push(resource);
    }
    return resources;
  }

  function answerOf(file: KnownFile, table: LinkTable | undefined): KnownAnswer | undefined {
    const indices = table?.files[file.byteOffset];
    if (table === undefined || indices === undefined) return undefined;
    return {
      file,
      resources: () => indices.flatMap((index) => resourceAt(table, index) ?? []),
      newResources: ({ depth }) => tellNew(table, indices, depth),
    };
  }

  return {
    async of(url) {
      const file = await files.of(url);
      if (file === undefined || file.extractionLength === 0) return file && withoutLinks(file);
      try {
        return answerOf(file, await links.of(file));
      } catch (error) {
        if (!(error instanceof ObjectMissingError)) throw error;
        logger.warn({ url, key: error.key }, 'What the last export stored is gone; the address is fetched anew');
        return undefined;
      }
    },

    atHand(url) {
      const file = files.atHand(url);
      if (file === undefined || file.extractionLength === 0) return file && withoutLinks(file);
      return answerOf(file, links.atHand(file));
    },
  };
}
