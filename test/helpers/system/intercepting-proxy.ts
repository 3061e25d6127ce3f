import {
  request as forwardRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { startHttpSite } from '../http-site.ts';

/** One request as the proxy received it. */
export interface ProxiedRequest {
  method: string;
  path: string;
  /** The body as text, for interceptions. */
  body: string;
  bytes: Buffer;
  headers: IncomingHttpHeaders;
  /** The status of the response. `undefined` while the client waits, and if the connection was cut. */
  status: number | undefined;
}

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** The operations of an interception on a request. */
export interface Exchange {
  request: ProxiedRequest;
  /** Forwards the request and returns the real response. */
  forward(): Promise<Answer>;
  reply(answer: { status: number; headers?: Answer['headers']; body?: string | Buffer }): void;
  /** Resets the connection. */
  cut(): void;
}

export type Behaviour = (exchange: Exchange) => Promise<void> | void;

export interface Interception {
  method?: 'GET' | 'POST' | 'PUT';
  path: RegExp;
  /** A text that the body must contain, such as a domain. */
  body?: string;
  /** How many requests to intercept. By default all. */
  times?: number;
}

export interface InterceptingProxy {
  url: string;
  requests: readonly ProxiedRequest[];
  /** The matching requests, oldest first. */
  matching(kind: Interception): ProxiedRequest[];
  /** Applies `behaviour` to matching requests, up to `times` or until the returned function is called. */
  intercept(kind: Interception, behaviour: Behaviour): () => void;
  close(): Promise<void>;
}

/** A real HTTP server between two parts of the product. It forwards other requests unchanged. */
export async function startInterceptingProxy(upstream: string): Promise<InterceptingProxy> {
  const requests: ProxiedRequest[] = [];
  const rules: { kind: Interception; behaviour: Behaviour; left: number }[] = [];
  const site = await startHttpSite(async (incoming, response) => {
    const request = await readRequest(incoming);
    requests.push(request);
    const exchange = createExchange(request, response, upstream);
    const rule = rules.find(({ kind, left }) => left > 0 && matches(kind, request));
    if (rule !== undefined) rule.left -= 1;
    const behave = rule?.behaviour ?? passOn;
    try {
      await behave(exchange);
    } catch {
      // The upstream connection broke, so break the client's connection too.
      exchange.cut();
    }
  });
  return {
    url: site.origin,
    requests,
    matching: (kind) => requests.filter((request) => matches(kind, request)),
    intercept: (kind, behaviour) => {
      const rule = { kind, behaviour, left: kind.times ?? Number.POSITIVE_INFINITY };
      rules.unshift(rule);
      return () => {
        rule.left = 0;
      };
    },
    close: site.close,
  };
}

const passOn: Behaviour = async ({ forward, reply }) => reply(await forward());

function matches({ method, path, body }: Interception, request: ProxiedRequest): boolean {
  return (method ?? request.method) === request.method && path.test(request.path) && request.body.includes(body ?? '');
}

async function readRequest(incoming: IncomingMessage): Promise<ProxiedRequest> {
  const { method = '', url: path = '', headers } = incoming;
  const bytes = await readAll(incoming);
  return { method, path, bytes, body: bytes.toString(), headers, status: undefined };
}

function createExchange(request: ProxiedRequest, response: ServerResponse, upstream: string): Exchange {
  return {
    request,
    forward: () => forward(request, upstream),
    reply: ({ status, headers = {}, body = '' }) => {
      if (response.destroyed) return;
      request.status = status;
      response.writeHead(status, withoutHopByHop(headers)).end(body);
    },
    cut: () => response.destroy(),
  };
}

async function forward({ method, path, headers, bytes }: ProxiedRequest, upstream: string): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const outgoing = forwardRequest(new URL(path, upstream), { method, headers, agent: false }, (answer) => {
      readAll(answer).then(
        (body) => resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body }),
        reject,
      );
    });
    outgoing.once('error', reject);
    outgoing.end(bytes);
  });
}

/** Removes hop-by-hop headers: the proxy sends the whole body with its own framing. */
function withoutHopByHop(headers: Answer['headers']): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || ['connection', 'keep-alive', 'transfer-encoding'].includes(name.toLowerCase())) continue;
    kept[name] = value;
  }
  return kept;
}

async function readAll(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
