import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { LeasedUrl, PreviousFile, Visited } from '../crawl-records.ts';
import { readResponseDocument } from '../document/header-elements.ts';
import { ObjectMissingError } from '../export-failure.ts';
import { type JobCache, placeForReading } from '../job-cache.ts';
import type { CrawlStore, FetchedResponse, Validators } from '../ports.ts';
import { assignPath } from '../urls/assign-path.ts';
import type { Resource, Site } from '../urls/identity.ts';
import { isWrongGuess, kindOfRank } from '../urls/resource-rank.ts';
import { isUrlFarOff } from '../urls/skip-rules.ts';
import { type LinkTable, type LinkTables, resourceAt } from './link-tables.ts';

/** What the project's previous export stored for a URL, and what it refers to. */
export type PreviousResponse = {
  file: PreviousFile;
  /** All that it refers to. */
  resources(): readonly Resource[];
  /**
   * What it refers to and no response reused before it does: pages of a site link to much the same. A link comes again
   * only if this page could bring it into the crawl's scope: it is nearer to the start page, or the link is a date.
   * Call it for a response that is reused.
   */
  newResources(from: { depth: number }): Resource[];
};

export type PreviousResponses = {
  /** Undefined if there is nothing to reuse. */
  of(url: string): Promise<PreviousResponse | undefined>;
  /** The same without waiting; undefined also if something must be read for it. */
  atHand(url: string): PreviousResponse | undefined;
};

function withoutLinks(file: PreviousFile): PreviousResponse {
  return { file, resources: () => [], newResources: () => [] };
}

/** Deeper than any crawl goes. */
const NEVER = 0xff_ff;

/**
 * Reads the responses of the previous export, for one stage that crawls. Stages don't share it: another one may have died
 * before it stored the links that it was given.
 */
export function createPreviousResponses(
  { links, logger }: { links: LinkTables; logger: Logger },
  files: PreviousFiles,
  /** When the crawl that reuses them was created (RFC 3339). */
  createdAt: string,
): PreviousResponses {
  const year = new Date(createdAt).getUTCFullYear();
  /** The least depth at which each link of a table was returned. */
  const returned = new WeakMap<LinkTable, Uint16Array>();

  /** The links of a table that weren't returned yet; from now on they were. */
  function takeNew(table: LinkTable, indices: readonly number[], depth: number): Resource[] {
    const depths = returned.get(table) ?? new Uint16Array(table.urls.length).fill(NEVER);
    returned.set(table, depths);
    const at = Math.min(depth, NEVER - 1);
    const resources: Resource[] = [];
    for (const index of indices) {
      if ((depths[index] ?? NEVER) <= at) continue;
      const resource = resourceAt(table, index);
      if (resource === undefined) continue;
      if (!isUrlFarOff(resource.url, year)) depths[index] = at;
      resources.push(resource);
    }
    return resources;
  }

  function responseOf(file: PreviousFile, table: LinkTable | undefined): PreviousResponse | undefined {
    const indices = table?.files[file.byteOffset];
    if (table === undefined || indices === undefined) return undefined;
    return {
      file,
      resources: () => indices.flatMap((index) => resourceAt(table, index) ?? []),
      newResources: ({ depth }) => takeNew(table, indices, depth),
    };
  }

  return {
    async of(url) {
      const file = await files.of(url);
      if (file === undefined || file.extractionLength === 0) return file && withoutLinks(file);
      try {
        return responseOf(file, await links.of(file));
      } catch (error) {
        if (!(error instanceof ObjectMissingError)) throw error;
        logger.warn(
          // A field named `key` is redacted.
          { url, object: error.key },
          'A response that the previous export stored is missing; the URL is fetched again',
        );
        return undefined;
      }
    },

    atHand(url) {
      const file = files.atHand(url);
      if (file === undefined || file.extractionLength === 0) return file && withoutLinks(file);
      return responseOf(file, links.atHand(file));
    },
  };
}

/** The files that a crawl has for URLs. */
type PreviousFiles = {
  of(url: string): Promise<PreviousFile | undefined>;
  /** The same without waiting; undefined also if it wasn't read yet. */
  atHand(url: string): PreviousFile | undefined;
};

type FileMap = ReadonlyMap<string, PreviousFile>;

export type PreviousFilesFor = (job: { jobId: string; base: { jobId: string; urlCount: number } }) => PreviousFiles;

/** Up to this many URLs the kept crawl is read completely instead of being queried URL by URL. */
export const MAX_WHOLE = 50_000;

/**
 * The files of the kept crawl that a job reuses. A small crawl is read completely, once per job and process. For a
 * large one, concurrent lookups share one statement.
 */
export function rememberPreviousFiles(store: CrawlStore, jobCache: JobCache): PreviousFilesFor {
  const whole = placeForReading<FileMap>(jobCache);
  return ({ jobId, base }) => {
    if (base.urlCount > MAX_WHOLE) return fromBatches(store, base.jobId);
    const reading = whole(jobId);
    let files: FileMap | undefined;
    return {
      async of(url) {
        files ??= await reading(() => collect(store.fetchedFiles(base.jobId)));
        return files.get(url);
      },
      atHand: (url) => files?.get(url),
    };
  };
}

function fromBatches(store: CrawlStore, jobId: string): PreviousFiles {
  let batch: { urls: string[]; files: Promise<FileMap> } | undefined;
  return {
    async of(url) {
      if (batch === undefined) {
        const urls: string[] = [];
        const files = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
          batch = undefined;
          return collect(store.fetchedFiles(jobId, urls));
        });
        batch = { urls, files };
      }
      batch.urls.push(url);
      return (await batch.files).get(url);
    },
    atHand: () => undefined,
  };
}

async function collect(pieces: AsyncIterable<PreviousFile[]>): Promise<FileMap> {
  const files = new Map<string, PreviousFile>();
  for await (const rows of pieces) for (const row of rows) files.set(row.url, row);
  return files;
}

/** The validators for a conditional request; undefined if the previous response had none, or was an error page. */
export function validatorsOf({ file }: PreviousResponse): Validators | undefined {
  const { etag, lastModified, status } = file;
  return status === 200 && (etag !== null || lastModified !== null) ? { etag, lastModified } : undefined;
}

/** The validators to use after a 304: its own, or the previous ones if it has none (RFC 9111, 4.3.4). */
export function stillValid({ file }: PreviousResponse, { etag, lastModified }: Validators): Validators {
  return { etag: etag ?? file.etag, lastModified: lastModified ?? file.lastModified };
}

/**
 * Whether an `X-Robots-Tag` may have hidden the page's links when it was stored: the header isn't part of the bytes.
 */
function mayBeHidden(known: PreviousResponse): boolean {
  const resources = known.resources();
  return resources.some(({ kind }) => kind === 'unfollowed') && resources.every(({ kind }) => kind !== 'page');
}

/** Whether a complete response has the same bytes as the previous export stored, and is to be read the same way. */
export function isSame(
  known: PreviousResponse,
  response: FetchedResponse,
  { url, charset }: { url: string; charset?: string | null | undefined },
  site: Site,
): boolean {
  const { file } = known;
  if (response.status !== file.status || response.nofollow === true || response.attachment === true) return false;
  const fetched = { bytes: response.body, contentType: response.contentType, url, inherited: charset ?? undefined };
  const { bytes, contentType } = readResponseDocument(fetched, response.headElements, site);
  if (bytes.length !== file.byteLength || contentType !== file.contentType) return false;
  return hash('sha256', bytes) === file.sha256 && !mayBeHidden(known);
}

/** Settles a URL with what the previous export stored: its bytes, their extraction and its links. */
export function reuseResponse(
  { file, newResources }: PreviousResponse,
  { site, leased, validators }: { site: Site; leased: LeasedUrl; validators: Validators },
): Visited {
  const { id, url, rank } = leased;
  const { contentType } = file;
  const { url: _, ...stored } = file;
  const result = {
    ...stored,
    id,
    outcome: 'file',
    path: assignPath({ url, contentType, kind: kindOfRank(rank) }, site),
    ...validators,
  } as const;
  return { leased, result, resources: isWrongGuess({ url, rank, contentType }) ? [] : newResources(leased) };
}
