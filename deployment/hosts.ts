import type { RequestListener, ServerResponse } from 'node:http';
import type { Deployment } from './deployment.ts';
import { notReady, sendJson, sendMetrics } from './endpoints.ts';
import type { DeploymentMetrics } from './metrics.ts';
import { MESSAGE_PAGE_HEADERS, renderMessagePage } from './serve/message-page.ts';
import { requestTarget } from './serve/request-target.ts';
import { ENDPOINTS_PREFIX } from './serve/serve.ts';

/** `host` undefined: the deployment for all other host names. */
type HostedDeployment = { host: string | undefined; deployment: Pick<Deployment, 'app' | 'status'> };

/**
 * Serves several deployments from one server, by the request's host name. Probes and metrics respond under every name,
 * because they come by address.
 */
export function createHostHandler(sites: readonly HostedDeployment[], metrics: DeploymentMetrics): RequestListener {
  const byHost = new Map(sites.map(({ host, deployment }) => [host, deployment]));
  const fallback = byHost.get(undefined);
  return (req, res) => {
    const found = byHost.get(hostName(req.headers.host)) ?? fallback;
    if (found !== undefined) {
      found.app(req, res);
      return;
    }
    const path = requestTarget(req).split('?')[0];
    if (path === '/-/healthz') sendJson(res, 200, { ok: true });
    else if (path === '/-/readyz') sendReadiness(res, sites);
    else if (path === '/-/metrics') sendMetrics(res, metrics);
    else if (path?.startsWith(ENDPOINTS_PREFIX)) sendJson(res, 404, { error: 'no site has this host name' });
    else sendUnknownHost(res);
  };
}

/** The host name in lower case, without its port and a final dot. */
function hostName(header: string | undefined): string | undefined {
  return header?.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
}

function sendReadiness(res: ServerResponse, sites: readonly HostedDeployment[]): void {
  const problems = sites.flatMap(({ host, deployment }) => {
    const problem = notReady(deployment.status());
    return problem === undefined ? [] : [`${host}: ${problem}`];
  });
  if (problems.length === 0) sendJson(res, 200, { ok: true });
  else sendJson(res, 503, { error: problems.join('; ') });
}

function sendUnknownHost(res: ServerResponse): void {
  const text = 'Please check the address.';
  const body = renderMessagePage({ status: 421, title: 'There is no site with this host name', text });
  const headers = { ...MESSAGE_PAGE_HEADERS, 'Content-Length': Buffer.byteLength(body) };
  res.writeHead(421, headers).end(res.req.method === 'HEAD' ? undefined : body);
}
