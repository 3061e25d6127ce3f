import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** All assets are served below this path. */
export const ASSETS_PATH = '/ui/assets';

const TYPES = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' } as const;

export type Asset = { fileName: string; type: string; body: Buffer };

const require = createRequire(import.meta.url);

/** The files, whose names hold the hash of their content. */
export const ASSETS = {
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
