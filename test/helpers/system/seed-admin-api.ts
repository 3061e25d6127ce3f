import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { buildBundle, siteOf } from '../../deployment/bundles.ts';
import { startHttpSite } from '../http-site.ts';
import { RFC_3339_SPELLINGS } from './odd-dates.ts';
import { createSeedAgentJobs, type SeedAgentJob } from './seed-agent-jobs.ts';

export interface SeedAdminApiOptions {
  key: string;
  linkTtlMs: number;
  /** Status words that a job goes through before `completed`, one a question. */
  statusWords: readonly string[];
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

  /** What answers a request of the export part; undefined where there is nothing. */
  const route = (method: string, pathname: string, body: string): (() => object) | undefined => {
    if (method === 'POST' && pathname === JOBS) {
      const { domain } = z.object({ domain: z.string() }).parse(JSON.parse(body));
      return () => start(domain);
    }
    const [, id = '', rest] = /^\/v1\/static-export\/jobs\/([^/]+)(\/bundle)?$/.exec(pathname) ?? [];
    const job = jobs.find((each) => each.id === decodeURIComponent(id));
    if (job === undefined) return undefined;
    if (method === 'GET' && rest === undefined) return () => read(job);
    return method === 'POST' && rest !== undefined ? () => bundle(job) : undefined;
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
    const found = route(request.method ?? '', pathname, body);
    if (found === undefined) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Nothing here</h1>');
      return;
    }
    answers += 1;
    const status = SUCCESSES[answers % SUCCESSES.length] ?? 200;
    response.writeHead(status, { 'content-type': 'text/plain' }).end(JSON.stringify(found()));
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

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
