import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { startHttpSite } from '../http-site.ts';

/** One response, or a connection that breaks before or during the response, or no response. */
export type Scripted =
  | { status: number; body?: unknown; text?: string; headers?: Record<string, string> }
  | 'reset'
  | 'cut'
  | 'silence';

export type Received = { method: string; path: string; headers: IncomingHttpHeaders; body: string };

/** A real HTTP server that sends the scripted responses one after another, then repeats the last one. */
async function startScriptedServer(script: Scripted[]): Promise<{
  url: string;
  received: Received[];
  close(): Promise<void>;
}> {
  const received: Received[] = [];
  const { origin, close } = await startHttpSite(async (request, response) => {
    const body = await text(request);
    const { method = '', url: path = '', headers } = request;
    received.push({ method, path, headers, body });
    const scripted = script.length > 1 ? script.shift() : script[0];
    if (scripted === undefined || scripted === 'silence') return;
    if (scripted === 'reset') return void request.socket.resetAndDestroy();
    if (scripted === 'cut') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"jobId":"se_', () => request.socket.destroy());
      return;
    }
    const sent = scripted.text ?? (scripted.body === undefined ? '' : JSON.stringify(scripted.body));
    response.writeHead(scripted.status, { 'content-type': 'application/json', ...scripted.headers }).end(sent);
  });
  return { url: origin, received, close };
}

/** Makes servers that are closed after each test of the current scope. */
export function useScriptedServers(): (script: Scripted[]) => ReturnType<typeof startScriptedServer> {
  const servers: Awaited<ReturnType<typeof startScriptedServer>>[] = [];
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));
  return async (script) => {
    const server = await startScriptedServer(script);
    servers.push(server);
    return server;
  };
}
