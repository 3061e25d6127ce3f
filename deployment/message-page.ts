import type { Response } from 'express';

/** Galley's own page, if the site has none to show. `text` never contains anything from a request. */
export function sendMessagePage(res: Response, status: number, title: string, text: string): void {
  res
    .status(status)
    .set('Cache-Control', 'no-store')
    .set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
    .type('html')
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
        `<title>${title}</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:15vh auto;padding:0 1em}</style>` +
        `<h1>${title}</h1><p>${text}</p></html>\n`,
    );
}
