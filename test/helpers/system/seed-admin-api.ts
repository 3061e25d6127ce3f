import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buildBundle, siteOf } from '../../deployment/bundles.ts';
import { startHttpSite } from '../http-site.ts';
import { RFC_3339_SPELLINGS } from './odd-dates.ts';
import { createSeedAgentJobs, type SeedAgentJob } from './seed-agent-jobs.ts';

/** How a domain's requests of one kind are answered, in order; after the last one as `well`. */
export type Manners = 'well' | 'html-error' | 'cut-json' | 'cut-connection';
type Operation = 'start' | 'read' | 'bundle';

export interface SeedAdminApiOptions {
  key: string;
  linkTtlMs: number;
  /** Status words that a job goes through before `completed`, one a question. */
  statusWords: readonly string[];
  /** By domain; a domain that isn't named is treated well. */
  manners?: Readonly<Record<string, Partial<Record<Operation, readonly Manners[]>>>>;
  /** How far its clock, and so its dates, are from ours. */
  clockSkewMs?: number;
}

export interface SeedAdminApi {
  url: string;
  /** What an export started from now on contains. */
  edit(domain: string, edition: string): void;
  /** The editions of a domain's exports in the order they were started. */
  exports(domain: string): string[];
  /** How often a bundle was asked for and given. */
  bundles(domain: string): number;
  /** The agent jobs in the order in which they were made. */
  agentJobs(): readonly SeedAgentJob[];
  close(): Promise<void>;
}

type Job = { id: string; domain: string; edition: string; words: string[] };
type Link = { job: Job; endsAtMs: number };

/** Any 2xx is success: the seed doesn't say which. */
const SUCCESSES = [200, 201, 202, 203, 207, 226] as const;
const JOBS = '/v1/static-export/jobs';

/**
 * An Admin API with the endpoints and the fields of the specification and nothing more: no
 * idempotency, no list, no cancel, no sizes, no hashes; opaque job ids, its own clock, dates in every RFC 3339 spelling.
 */
export async function startSeedAdminApi(options: SeedAdminApiOptions): Promise<SeedAdminApi> {
  const jobs: Job[] = [];
  const links = new Map<string, Link>();
  const editions = new Map<string, string>();
  const asked = new Map<string, number>();
  const given = new Map<string, number>();
  const agents = createSeedAgentJobs(options.statusWords);
  const now = (): number => Date.now() + (options.clockSkewMs ?? 0);
  let answers = 0;

  const start = (domain: string): object => {
    const id = `job №${jobs.length + 1}/${domain}`;
    jobs.push({ id, domain, edition: editions.get(domain) ?? 'none', words: [...options.statusWords] });
    return { jobId: id };
  };
  const read = (job: Job): object => {
    const status = job.words.shift() ?? 'completed';
    const odd = job.words.length % 2 === 0;
    return { status, progress: odd ? '37 %' : 0.5, pageCount: odd ? null : 12, extra: [{}] };
  };
  const bundle = (job: Job): object => {
    const path = `/bundles/${randomBytes(8).toString('hex')}`;
    const endsAtMs = now() + options.linkTtlMs;
    links.set(path, { job, endsAtMs });
    const count = (given.get(job.domain) ?? 0) + 1;
    given.set(job.domain, count);
    const spelling = RFC_3339_SPELLINGS[count % RFC_3339_SPELLINGS.length];
    return { bundleUrl: site.origin + path, expiresAt: spelling?.(endsAtMs) };
  };

  const site = await startHttpSite(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://seed.invalid');
    const link = links.get(pathname);
    if (link !== undefined) {
      if (now() > link.endsAtMs) response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
      else response.end(await buildBundle(siteOf(link.job.edition)));
      return;
    }
    response.setHeader('date', new Date(now()).toUTCString());
    if (request.headers.authorization !== `Bearer ${options.key}`) {
      response.writeHead(401).end('who are you?');
      return;
    }
    const body = await readText(request);
    const agent = agents.answer(request.method ?? '', pathname, body);
    if (agent !== undefined) {
      response.writeHead(agent.status, { 'content-type': 'text/plain' }).end(JSON.stringify(agent.body));
      return;
    }
    const found = route(request.method ?? '', pathname, jobs, body);
    if (found === undefined) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Nothing here</h1>');
      return;
    }
    const counter = `${found.domain} ${found.operation}`;
    const count = asked.get(counter) ?? 0;
    asked.set(counter, count + 1);
    const manner = options.manners?.[found.domain]?.[found.operation]?.[count] ?? 'well';
    if (manner === 'html-error') {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>Bad gateway</h1></html>');
      return;
    }
    const reply =
      found.job === undefined ? start(found.domain) : found.operation === 'read' ? read(found.job) : bundle(found.job);
    answers += 1;
    send(response, SUCCESSES[answers % SUCCESSES.length] ?? 200, JSON.stringify(reply), manner);
  });

  return {
    url: site.origin,
    edit: (domain, edition) => {
      editions.set(domain, edition);
    },
    exports: (domain) => jobs.filter((job) => job.domain === domain).map(({ edition }) => edition),
    bundles: (domain) => given.get(domain) ?? 0,
    agentJobs: () => agents.jobs,
    close: site.close,
  };
}

type Found = { operation: Operation; domain: string; job: Job | undefined };

function route(method: string, pathname: string, jobs: readonly Job[], body: string): Found | undefined {
  if (method === 'POST' && pathname === JOBS) {
    const parsed: unknown = JSON.parse(body);
    const domain: unknown = typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, 'domain') : undefined;
    return typeof domain === 'string' ? { operation: 'start', domain, job: undefined } : undefined;
  }
  const [, id = '', rest] = /^\/v1\/static-export\/jobs\/([^/]+)(\/bundle)?$/.exec(pathname) ?? [];
  const job = jobs.find((each) => each.id === decodeURIComponent(id));
  if (job === undefined) return undefined;
  if (method === 'GET' && rest === undefined) return { operation: 'read', domain: job.domain, job };
  if (method === 'POST' && rest !== undefined) return { operation: 'bundle', domain: job.domain, job };
  return undefined;
}

function send(response: ServerResponse, status: number, json: string, manner: Manners): void {
  const half = json.slice(0, Math.floor(json.length / 2));
  if (manner === 'cut-connection') {
    response.writeHead(status, { 'content-length': Buffer.byteLength(json) }).write(half, () => response.destroy());
    return;
  }
  response.writeHead(status, { 'content-type': 'text/plain' }).end(manner === 'cut-json' ? half : json);
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
