import { startHttpSite } from '../http-site.ts';
import { createGate, type Gate } from './gate.ts';

export interface OriginSite {
  origin: string;
  /** Changes the content of a path. A text is an HTML page. */
  put(path: string, content: string | Buffer, contentType?: string): void;
  /** How often a path was requested. */
  count(path: string): number;
  /** From now on requests for this path wait at the returned gate. */
  hold(path: string): Gate;
  /** From now on every request hangs, or gets a 503, until the returned function is called. */
  harm(how: 'hang' | 'error'): () => Promise<void>;
  close(): Promise<void>;
}

type Page = { content: string | Buffer; contentType: string };

const HTML = 'text/html; charset=utf-8';

/** The site that is published: a real HTTP server whose pages a test edits, counts and holds. */
export async function startOriginSite(pages: Readonly<Record<string, string>>): Promise<OriginSite> {
  const content = new Map<string, Page>();
  const gates = new Map<string, Gate>();
  let harm: 'error' | Gate | undefined;
  for (const [path, html] of Object.entries(pages)) content.set(path, { content: html, contentType: HTML });
  const site = await startHttpSite(async (request, response) => {
    const path = request.url ?? '';
    await gates.get(path)?.pass();
    if (harm === 'error') return response.writeHead(503).end();
    await harm?.pass();
    const page = content.get(path);
    if (page === undefined) {
      return response.writeHead(404, { 'content-type': HTML }).end('<title>not found</title>');
    }
    return response.writeHead(200, { 'content-type': page.contentType }).end(page.content);
  });
  return {
    origin: site.origin,
    put: (path, body, contentType = HTML) => {
      content.set(path, { content: body, contentType });
    },
    count: (path) => site.requests.filter((requested) => requested === path).length,
    hold: (path) => {
      const gate = createGate();
      gates.set(path, gate);
      return gate;
    },
    harm(how) {
      const gate = createGate();
      harm = how === 'error' ? how : gate;
      return async () => {
        harm = undefined;
        gate.open();
      };
    },
    close: async () => {
      if (typeof harm === 'object') harm.open();
      for (const gate of gates.values()) gate.open();
      await site.close();
    },
  };
}

/** A page that contains `text` and links to `links`. */
export function page(text: string, links: readonly string[] = []): string {
  const anchors = links.map((link) => `<a href="${link}">${link}</a>`).join('');
  return `<!doctype html><html><head><title>Handbook</title></head><body><p>${text}</p>${anchors}</body></html>`;
}
