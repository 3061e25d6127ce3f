import { once } from 'node:events';
import express from 'express';
import type { VNode } from 'preact';
import { ASSETS_PATH } from '../../ui/assets.ts';
import { sendPage } from '../../web/send-page.ts';
import { serveAssets } from '../../web/serve-assets.ts';

/** Serves each page at its name, with the assets of all pages. */
export async function servePages(
  pages: Readonly<Record<string, () => VNode>>,
): Promise<{ origin: string; stop(): void }> {
  const app = express();
  app.get(`${ASSETS_PATH}/:file`, serveAssets());
  for (const [name, render] of Object.entries(pages)) {
    app.get(`/${name}`, (request, response) => sendPage(request, response, render()));
  }
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : '';
  return { origin: `http://127.0.0.1:${port}`, stop: () => void server.close() };
}
