import type { ServerResponse } from 'node:http';
import type { DeploymentMetrics } from './metrics.ts';
import type { Endpoints } from './serve/serve.ts';
import type { DeploymentStatus } from './status.ts';
import type { Capabilities } from './values/capabilities.ts';

type EndpointDeps = {
  status(): DeploymentStatus;
  capabilities(): Capabilities;
  metrics: DeploymentMetrics;
};

export function createEndpoints({ status, capabilities, metrics }: EndpointDeps): Endpoints {
  return (req, res, url) => {
    const [path = url] = url.split('?');
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      sendJson(res, 405, { error: `${req.method} is not possible here` }, { Allow: 'GET, HEAD' });
    } else if (path === '/-/status') {
      sendJson(res, 200, status());
    } else if (path === '/-/capabilities') {
      sendJson(res, 200, capabilities());
    } else if (path === '/-/healthz') {
      sendJson(res, 200, { ok: true });
    } else if (path === '/-/readyz') {
      const problem = notReady(status());
      if (problem === undefined) sendJson(res, 200, { ok: true });
      else sendJson(res, 503, { error: problem });
    } else if (path === '/-/metrics') {
      sendMetrics(res, metrics);
    } else {
      sendJson(res, 404, { error: `there is no ${path}` });
    }
  };
}

/** Why a deployment can't take visitors; undefined: it can. */
export function notReady({ state, lastError }: DeploymentStatus): string | undefined {
  if (state === 'off') return 'staticExport.enabled is false';
  if (state === 'empty') return lastError?.message ?? 'no bundle is served yet';
  return undefined;
}

export function sendMetrics(res: ServerResponse, metrics: DeploymentMetrics): void {
  metrics.render().then(
    (text) => send(res, 200, metrics.contentType, text, {}),
    () => sendJson(res, 500, { error: 'unexpected fault' }),
  );
}

export function sendJson(
  res: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  send(res, status, 'application/json; charset=utf-8', JSON.stringify(body), headers);
}

function send(
  res: ServerResponse,
  status: number,
  contentType: string,
  text: string,
  headers: Readonly<Record<string, string>>,
): void {
  const body = res.req.method === 'HEAD' ? undefined : text;
  const own = { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(text), 'Cache-Control': 'no-store' };
  res.writeHead(status, { ...own, 'X-Content-Type-Options': 'nosniff', ...headers }).end(body);
}
