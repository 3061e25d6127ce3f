import type { Request, Response } from 'express';
import send from 'send';
import type { BundleFile } from '../contract/bundle.ts';
import { cacheControl } from './cache-control.ts';
import { chooseEncoding } from './choose-encoding.ts';
import { sendMessagePage } from './message-page.ts';
import type { Site } from './site.ts';

/** Types that a browser rejects with `nosniff` if an origin mislabels them, by extension. */
const STRICT_TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  wasm: 'application/wasm',
};

/**
 * Sends a file of a site, or its best precompressed sibling, with its ETag (the manifest's SHA-256 of the bytes sent),
 * ranges and conditional requests. Holds the site until the response has ended, so that a swap neither cuts nor mixes
 * it.
 */
export function sendSiteFile(req: Request, res: Response, site: Site, file: BundleFile, status = 200): void {
  const release = site.hold();
  res.once('close', release);
  res.status(status);
  res.setHeader('Content-Type', contentType(file));
  res.setHeader('Cache-Control', status === 200 ? cacheControl(file.path) : 'no-cache');
  const siblings = site.siblings(file.path);
  const sent = chooseEncoding(req, file, siblings);
  // For the file itself too, so that a cache doesn't serve it to clients that accept another coding.
  if (siblings.length > 0) res.vary('Accept-Encoding');
  if (sent.encoding !== undefined) res.setHeader('Content-Encoding', sent.encoding);
  res.setHeader('ETag', `"${sent.sha256}"`);
  const path = sent.path.split('/').map(encodeURIComponent).join('/');
  send(req, path, {
    root: site.root,
    // Times differ between machines with the same bytes, and go back on a rollback, so only the ETag is sent.
    lastModified: false,
    cacheControl: false,
    etag: false,
    index: false,
    dotfiles: 'allow',
    acceptRanges: status === 200,
  })
    .on('error', (error: unknown) => sendFault(res, error))
    .pipe(res);
}

function contentType({ path, contentType: declared }: BundleFile): string {
  const mislabelled = declared === '' || /^(text\/plain|application\/octet-stream)\b/.test(declared);
  const strict = STRICT_TYPES[path.slice(path.lastIndexOf('.') + 1).toLowerCase()];
  if (mislabelled && strict !== undefined) return strict;
  return declared === '' ? 'application/octet-stream' : declared;
}

function sendFault(res: Response, error: unknown): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const status = error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : 500;
  for (const name of ['ETag', 'Accept-Ranges', 'Content-Length', 'Content-Encoding']) res.removeHeader(name);
  if (status === 412 || status === 416) res.status(status).type('txt').set('Cache-Control', 'no-store').end();
  else sendMessagePage(res, 500, 'This page could not be read', 'The server has a problem. Please try again later.');
}
