import type { RequestHandler } from 'express';
import { ASSETS, type Asset } from '../ui/assets.ts';
import { type Compressed, sendCompressed } from './send-compressed.ts';

/** A file's name changes with its content, so browsers may keep it forever. */
const KEEP_FOREVER = 'max-age=31536000, immutable';

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
