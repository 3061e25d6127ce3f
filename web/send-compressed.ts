import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';

type Encoding = 'br' | 'gzip';

const COMPRESS: Record<Encoding, (body: Buffer) => Promise<Buffer>> = {
  // The best quality takes ten times as long and saves a twentieth.
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: promisify(gzip),
};

/** Kept by a caller that sends the same body again. */
export type Compressed = Map<Encoding, Promise<Buffer>>;

/**
 * Sends a body, compressed if the request accepts it. Its headers must be set.
 *
 * Pages may hold a CSRF token and a text that the URL chose. Compression would let another site guess the token by the
 * response's size (BREACH), but browsers don't send SameSite=Strict cookies with such requests.
 */
export async function sendCompressed(
  request: Request,
  response: Response,
  body: Buffer,
  kept: Compressed = new Map(),
): Promise<void> {
  response.vary('Accept-Encoding');
  const encoding = request.acceptsEncodings('br', 'gzip', 'identity');
  if (encoding !== 'br' && encoding !== 'gzip') {
    response.set('Content-Length', String(body.length)).end(body);
    return;
  }
  const compressing = kept.get(encoding) ?? COMPRESS[encoding](body);
  kept.set(encoding, compressing);
  const compressed = await compressing;
  response.set({ 'Content-Encoding': encoding, 'Content-Length': String(compressed.length) }).end(compressed);
}
