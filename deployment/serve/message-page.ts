import { createHash } from 'node:crypto';

/** Galley's own page, if the site has none to show. `text` never contains anything from a request. */
export type MessagePage = { status: number; title: string; text: string };

const STYLE =
  ':root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:15vh auto;padding:0 1em}';
const STYLE_SHA256 = createHash('sha256').update(STYLE).digest('base64');

export const MESSAGE_PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_SHA256}'`,
};

export function renderMessagePage({ title, text }: MessagePage): string {
  return (
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${title}</title><style>${STYLE}</style>` +
    `<main><h1>${title}</h1><p>${text}</p></main></html>\n`
  );
}
