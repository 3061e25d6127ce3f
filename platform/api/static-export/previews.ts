import { randomBytes } from 'node:crypto';
import { extname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Express, Request, Response } from 'express';
import { createBoundedThreads, WorkExceeded, WorkRefused } from '../../../base/bounded-threads.ts';
import { sha256Hex } from '../../../base/sha256.ts';
import { readBundleHead } from '../../../bundle/read-bundle.ts';
import { bytesOf, readEntries } from '../../../bundle/read-entries.ts';
import { encodeLocation } from '../../../bundle/url.ts';
import type { ExportPreview } from '../../../contract/admin-api.ts';
import type { BundleFile } from '../../../contract/bundle.ts';
import { HEAD_LENGTH_BYTES, readHeadLength } from '../../../contract/bundle-head.ts';
import { ObjectMissingError } from '../../../exporter/export-failure.ts';
import { HttpError } from '../../../web/http-error.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import { type ExportJobRow, noteLinkRequest } from '../../store/export-jobs.ts';
import { findPreviewedJob, insertPreview } from '../../store/export-previews.ts';
import { addRoute } from '../add-route.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { requireCompleted } from './export-job-view.ts';
import { absoluteUrl } from './export-results.ts';
import type * as tasks from './preview-tasks.ts';

const PREVIEWS = '/previews';
const VALID_MS = 86_400_000;

/**
 * Scripts run, but without the platform's origin: an export is somebody else's code. As scripts and fonts of such a page
 * are requested from another origin, they need the permission to be read.
 */
const PREVIEW_HEADERS = {
  'Content-Security-Policy': 'sandbox allow-scripts',
  'Access-Control-Allow-Origin': '*',
  'Cache-Control': 'private, no-cache',
  // The URL is a secret, which other sites must not get.
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
};

/** Requests that may wait: a page has many files. */
const MAX_WAITING = 1_000;

const threads = createBoundedThreads<typeof tasks>({
  module: new URL(`./preview-tasks${extname(import.meta.url)}`, import.meta.url).href,
  limitMs: 60_000,
  maxWaiting: MAX_WAITING,
  memoryMiB: 1024,
});

/** A link under which a completed export is served for a day. Throws 409 and 410 like its bundle. */
export async function createPreview(
  context: Pick<ApiContext, 'db' | 'publicUrl' | 'now'>,
  job: ExportJobRow,
): Promise<ExportPreview> {
  const at = context.now();
  // Noted first, so that the archive outlives the link.
  requireCompleted(await noteLinkRequest(context.db, job, at));
  const token = randomBytes(24).toString('base64url');
  const expiresAt = new Date(at.getTime() + VALID_MS);
  await insertPreview(context.db, { tokenSha256: sha256Hex(token), jobId: job.id, expiresAt });
  return {
    previewUrl: absoluteUrl(`${PREVIEWS}/${token}/`, context.publicUrl()),
    expiresAt: expiresAt.toISOString(),
  };
}

/** Serves the files of exports under the links of `createPreview`, as a deployment would. */
export function addPreviewRoutes(app: Express, context: ApiContext): void {
  const get = async (request: Request, response: Response): Promise<void> => {
    const { db, now } = context;
    const [, token = '', target = ''] = /^\/previews\/([^/?]+)(.*)$/.exec(request.originalUrl) ?? [];
    const job = await findPreviewedJob(db, { tokenSha256: sha256Hex(token), at: now() });
    if (job === undefined) throw new HttpError(404, 'There is no such preview, or its day is over: make another');
    response.set(PREVIEW_HEADERS);
    const base = absoluteUrl(`${PREVIEWS}/${token}`, context.publicUrl());
    if (!target.startsWith('/')) response.redirect(308, `${base}/${target}`);
    else await servePreview({ request, response, objects: context.objects, job, target, base });
  };
  addRoute(app, `${PREVIEWS}/:token`, { get });
  addRoute(app, `${PREVIEWS}/:token/*path`, { get });
  addRoute(app, `${PREVIEWS}/:token/`, { get });
}

type Serving = {
  request: Request;
  response: Response;
  objects: ObjectStore;
  job: ExportJobRow;
  target: string;
  /** The preview's URL without its last slash. */
  base: string;
};

async function servePreview(serving: Serving): Promise<void> {
  const { response, base } = serving;
  const { found, basePath = '', headBytes } = await resolve(serving);
  if (found.kind === 'redirect') {
    const { location, status } = found;
    const isMounted = location === basePath || location.startsWith(`${basePath}/`);
    const path = isMounted ? location.slice(basePath.length) : location;
    response.redirect(status, encodeLocation(path.startsWith('/') || path === '' ? base + path : path));
  } else if (found.kind === 'malformed') throw new HttpError(400, 'This address is not valid');
  else if (found.kind === 'file') await sendFile(serving, { file: found.file, status: 200, headBytes });
  else if (found.page !== undefined) await sendFile(serving, { ...found.page, headBytes });
  else throw new HttpError(404, 'The export has no such file');
}

async function resolve({ objects, job, target }: Serving): Promise<Exclude<tasks.Answer, 'unknown'>> {
  const { archiveKey, archiveSha256 } = requireCompleted(job);
  const question = { archiveSha256, target };
  const key = `${archiveSha256} ${target}`;
  try {
    const first = await threads.run('resolveTarget', question, key);
    if (first !== 'unknown') return first;
    const bundle = await readBundle(objects, archiveKey);
    const second = await threads.run('resolveTarget', { ...question, bundle }, `told ${key}`);
    if (second === 'unknown') throw new Error('The manifest was not read');
    return second;
  } catch (error) {
    if (error instanceof ObjectMissingError) throw new HttpError(404, 'The bundle is no longer stored');
    if (!(error instanceof WorkExceeded) && !(error instanceof WorkRefused)) throw error;
    throw new HttpError(503, 'Too many previews are shown at the moment', { 'Retry-After': '10' });
  }
}

async function readBundle(objects: ObjectStore, archiveKey: string): Promise<tasks.StoredBundle> {
  const headBytes = readHeadLength(await objects.read(archiveKey, { start: 0, end: HEAD_LENGTH_BYTES - 1 }));
  if (headBytes === undefined) throw new Error("The archive doesn't say how long its head is");
  const { manifest } = await readBundleHead(await objects.get(archiveKey));
  return { manifest, headBytes };
}

type SentFile = { file: BundleFile; status: number; headBytes: number };

async function sendFile({ request, response, objects, job }: Serving, sent: SentFile): Promise<void> {
  const { file, status } = sent;
  const etag = `"${file.sha256}"`;
  response.status(status).set({ ETag: etag, 'Content-Type': file.contentType });
  if (status === 200 && request.get('if-none-match')?.includes(etag)) {
    response.status(304).end();
    return;
  }
  response.set('Content-Length', String(file.size));
  if (request.method === 'HEAD') response.end();
  else await sendMember(response, objects, requireCompleted(job).archiveKey, sent);
}

/** Reads only the part of the archive that holds the file. A client that disconnects ends the reading and is no error. */
async function sendMember(
  response: Response,
  objects: ObjectStore,
  archiveKey: string,
  { file: { path, offset, length }, headBytes }: SentFile,
): Promise<void> {
  if (offset === undefined || length === undefined) throw new Error(`The archive doesn't say where ${path} is`);
  const start = headBytes + offset;
  const member = await objects.get(archiveKey, { start, end: start + length - 1 });
  try {
    await readEntries(member, { maxBytes: Number.MAX_SAFE_INTEGER }, async (entry) => {
      if (entry.header.name !== path) return undefined;
      await pipeline(bytesOf(entry), response);
      return 'stop';
    });
  } catch (error) {
    if (!response.closed && !response.destroyed) throw error;
  } finally {
    member.destroy();
  }
}
