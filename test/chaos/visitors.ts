import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetObjectCommand, NoSuchKey, type S3Client } from '@aws-sdk/client-s3';
import { z } from 'zod';
import { READ_PATHS, readPage } from './editions.ts';
import type { PlaceSetup, SeenPage, View } from './history.ts';

type Seen = Pick<View, 'status' | 'jobId' | 'version' | 'pages'>;

/** Reads a place as a visitor does; undefined if it didn't respond. */
export type ReadPlace = () => Promise<Seen | undefined>;

const PAUSE_MS = 250;

const status = z.object({ jobId: z.string().nullable(), version: z.string().nullable() });

/** @param url of a `galley deployment` */
export function serverReader(url: string): ReadPlace {
  const told = async () => status.parse(await (await fetch(`${url}/-/status`)).json());
  return async () => {
    try {
      const before = await told();
      const pages: SeenPage[] = [];
      for (const path of READ_PATHS) {
        const response = await fetch(url + path);
        const text = await response.text();
        if (response.status !== 200) return { status: response.status, jobId: null, version: null, pages: [] };
        pages.push(readPage(path, text));
      }
      const after = await told();
      return { status: 200, pages, ...(before.jobId === after.jobId ? after : { jobId: null, version: null }) };
    } catch (error) {
      return isRefused(error) ? { status: 'refused', jobId: null, version: null, pages: [] } : undefined;
    }
  };
}

function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}

/** @param root a folder with the files of a site, as a web server reads them */
export function folderReader(root: string): ReadPlace {
  return filesReader(async (name) => await readFile(join(root, name), 'utf8').catch(() => null));
}

/** @param prefix of the site's keys, as a web server in front of the bucket reads them */
export function bucketReader(client: S3Client, prefix: string): ReadPlace {
  return filesReader(async (name) => {
    try {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: 'galley-bundles', Key: prefix + name }));
      return await Body?.transformToString();
    } catch (error) {
      // Otherwise the store is away, and nobody knows what the bucket has.
      return error instanceof NoSuchKey ? null : undefined;
    }
  });
}

/** @param read returns the text of a file; null if there is none, undefined if it can't be read now */
function filesReader(read: (name: string) => Promise<string | null | undefined>): ReadPlace {
  return async () => {
    const pages: SeenPage[] = [];
    for (const path of READ_PATHS) {
      const text = await read(path === '/' ? 'index.html' : `${path.slice(1)}.html`);
      if (text === undefined) return undefined;
      if (text === null) return { status: 404, jobId: null, version: null, pages: [] };
      pages.push(readPage(path, text));
    }
    return { status: 200, jobId: null, version: null, pages };
  };
}

export type Visitors = {
  /** Ends after each place was read once more. */
  stop(): Promise<void>;
};

/** Reads every place again and again. Equal responses in a row become one view. */
export function startVisitors(
  places: readonly (PlaceSetup & { read: ReadPlace })[],
  views: View[],
  nowMs: () => number,
): Visitors {
  let isStopped = false;
  const visit = async ({ name, read }: (typeof places)[number]): Promise<void> => {
    let last: View | undefined;
    for (;;) {
      const isLast = isStopped;
      const fromMs = nowMs();
      const seen = await read();
      if (seen !== undefined) {
        const seenMs = nowMs();
        if (last !== undefined && isEqual(last, seen)) Object.assign(last, { untilMs: seenMs, lastFromMs: fromMs });
        else {
          last = { place: name, fromMs, untilMs: seenMs, seenMs, lastFromMs: fromMs, ...seen };
          views.push(last);
        }
      }
      if (isLast) return;
      await sleep(PAUSE_MS);
    }
  };
  const all = Promise.all(places.map(visit));
  return {
    async stop() {
      isStopped = true;
      await all;
    },
  };
}

function isEqual(view: View, { status, jobId, version, pages }: Seen): boolean {
  const of = (each: Seen): string => JSON.stringify([each.status, each.jobId, each.version, each.pages]);
  return of(view) === of({ status, jobId, version, pages });
}
