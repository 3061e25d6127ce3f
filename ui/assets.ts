import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RequestHandler } from 'express';
import { type Compressed, sendCompressed } from './send-compressed.ts';

/** All assets are served below this path. */
export const ASSETS_PATH = '/ui/assets';

/** A file's name holds the hash of its content, so browsers may keep it forever. */
const KEEP_FOREVER = 'public, max-age=31536000, immutable';

const TYPES = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' } as const;

type Asset = { fileName: string; type: string; body: Buffer };

const require = createRequire(import.meta.url);

const ASSETS = {
  style: ownAsset('galley', 'css'),
  script: ownAsset('galley', 'js'),
  favicon: ownAsset('favicon', 'svg'),
  htmx: toAsset('htmx', 'js', readFileSync(require.resolve('htmx.org/dist/htmx.min.js'))),
  htmxSse: toAsset('htmx-sse', 'js', readFileSync(require.resolve('htmx.org/dist/ext/hx-sse.min.js'))),
} as const;

function toAsset(name: string, ending: keyof typeof TYPES, body: Buffer): Asset {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
  return { fileName: `${name}.${hash}.${ending}`, type: `${TYPES[ending]}; charset=utf-8`, body };
}

function ownAsset(name: string, ending: keyof typeof TYPES): Asset {
  return toAsset(name, ending, readFileSync(new URL(`assets/${name}.${ending}`, import.meta.url)));
}

/** The path of an asset, from the root of the host. */
export function assetPath(name: keyof typeof ASSETS): string {
  return `${ASSETS_PATH}/${ASSETS[name].fileName}`;
}

/** Serves the assets at a route `${ASSETS_PATH}/:file`; goes on to the next handler if there is no such file. */
export function serveAssets(): RequestHandler {
  const byName = new Map<unknown, { asset: Asset; kept: Compressed }>(
    Object.values(ASSETS).map((each) => [each.fileName, { asset: each, kept: new Map() }]),
  );
  return async (request, response, next) => {
    const found = byName.get(request.params.file);
    if (found === undefined) {
      next();
      return;
    }
    const { asset, kept } = found;
    response.set({ 'Content-Type': asset.type, 'Cache-Control': KEEP_FOREVER, 'X-Content-Type-Options': 'nosniff' });
    await sendCompressed(request, response, asset.body, kept);
  };
}
