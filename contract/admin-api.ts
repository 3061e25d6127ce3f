import { z } from 'zod';
import { reportedProof } from './proof.ts';

/**
 * The Admin API's wire format as the platform sends it. Other services may send less: client/job-schemas.ts reads it
 * more tolerantly.
 */

/** The base URL of an Admin API, with or without a path. */
export const adminApiUrl = z
  .url({ protocol: /^https?$/, error: 'expected an http(s) URL', abort: true })
  .refine((text) => {
    const { username, password, search, hash } = new URL(text);
    return username + password + search + hash === '';
  }, 'expected a URL without user name, password, query and fragment');

/** Its characters can be sent in a header. Empty for a program without sites, which calls no Admin API. */
export const adminApiKey = z.string().regex(/^[\x21-\x7e]*$/, 'expected printable ASCII characters without spaces');

/** An id of a service: opaque, and a segment of a path once it is escaped. "." and ".." can't be one. */
export const opaqueId = z
  .string()
  .max(500, 'expected at most 500 characters')
  .regex(/^(?!\.\.?$)(?=\P{Surrogate}+$).*\S/su, 'expected an id');

const timestamp = z.iso.datetime({ offset: true });

export const exportJobStatus = z.enum(['queued', 'running', 'completed', 'failed']);
export type ExportJobStatus = z.infer<typeof exportJobStatus>;

/** The error of a canceled job, for which the API has no status of its own: it failed. */
export const CANCELLED = 'cancelled';

/** The state of a job, for people. */
export function jobWord<Status extends string>({ status, error }: { status: Status; error: string | null }) {
  return status === 'failed' && error === CANCELLED ? 'canceled' : status;
}

export const exportJobId = z.string().regex(/^se_[0-9a-f]{16}$/);

/** A static export job. `progress` is 0 to 100; it and `pageCount` never decrease. */
export const exportJob = z.object({
  jobId: exportJobId,
  status: exportJobStatus,
  progress: z.number().min(0).max(100),
  pageCount: z.int().min(0),
  version: z.string(),
  domain: z.string(),
  createdAt: timestamp,
  updatedAt: timestamp,
  error: z.string().nullable(),
});
export type ExportJob = z.infer<typeof exportJob>;

/** A name in another script, such as `bücher.example`, in the ASCII form that the DNS has. */
function toAsciiName(name: string): string {
  const isName = /[^ -~]/.test(name) && !/[\s/:?#@\\[\]]/.test(name);
  return isName && URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : name;
}

/** The DNS name of a site: lower case, at least one dot or `localhost`, no port. Other scripts become ASCII. */
export const domainName = z
  .string()
  .trim()
  .overwrite(toAsciiName)
  .toLowerCase()
  .max(253)
  .regex(
    /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/,
    'expected a domain name such as docs.example.com',
  );

/** Scheme, host and port of the server to export from: the operator vouches for it, be it private or loopback. */
export const siteOrigin = z
  .url({ protocol: /^https?$/, error: 'expected an http(s) URL such as http://127.0.0.1:8080' })
  .refine((text) => {
    // Zod goes on after a failed check: what is no URL has had its message.
    if (!URL.canParse(text)) return true;
    const { pathname, search, hash, username, password } = new URL(text);
    return pathname === '/' && [search, hash, username, password].every((part) => part === '');
  }, 'expected only scheme, host and port')
  .transform((text) => (URL.canParse(text) ? new URL(text).origin : text));

/** Format of a version, which is used in file names, headers and the values file. */
const versionLabel = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]*$/, 'expected letters, digits, ".", "_", "+" or "-"');

/** A path of the site; a missing slash at its start is added. */
const requestedPath = z
  .string()
  .min(1)
  .max(1000)
  .regex(/^(?![a-z][a-z0-9+.-]*:)/i, 'expected a path such as /guides/start')
  .overwrite((path) => (path.startsWith('/') ? path : `/${path}`));

export const startExportRequest = z.strictObject({
  domain: domainName,
  version: versionLabel.optional(),
  // Limited so that every valid list fits the 1 MiB of a body.
  paths: z.array(requestedPath).min(1).max(1000).optional(),
});
export type StartExportRequest = z.infer<typeof startExportRequest>;

/** The published forms of static export: jobs of a domain, or of a project. */
export const staticExportForm = z.enum(['domain', 'project']);
export type StaticExportForm = z.infer<typeof staticExportForm>;

/** Where a site can be mounted below its domain; `''`: at the root. */
export const basePath = z.enum(['', '/docs', '/documentation']);

/** The body of a start in form `project`, whose domain is the project's. */
export const startProjectExportRequest = z.strictObject({ basePath: basePath.optional() });
export type StartProjectExportRequest = z.infer<typeof startProjectExportRequest>;

/** A job in form `project`. Once it is completed, each read gives a fresh link. */
export const projectExportJob = exportJob
  .pick({ jobId: true, status: true, createdAt: true, updatedAt: true, error: true })
  .extend({
    bundleUrl: z.url().optional(),
    sizeBytes: z.int().min(0).optional(),
    expiresAt: timestamp.optional(),
  });
export type ProjectExportJob = z.infer<typeof projectExportJob>;

/** A presigned link to the packed export. Only the link expires at `expiresAt`; the job and its files stay. */
export const bundle = z.object({
  jobId: exportJobId,
  bundleUrl: z.url(),
  expiresAt: timestamp,
  sizeBytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Of the bytes of its manifest; missing for an export of before it was recorded. */
  manifestSha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  version: z.string(),
});
export type Bundle = z.infer<typeof bundle>;

/** A page of the export at an unguessable URL, for a day. */
export const exportPreview = z.object({ previewUrl: z.url(), expiresAt: timestamp });
export type ExportPreview = z.infer<typeof exportPreview>;

const cancelResult = z.enum(['accepted', 'already-finished']);

export const exportCancellation = z.object({ result: cancelResult, job: exportJob });
export type ExportCancellation = z.infer<typeof exportCancellation>;

export const exportJobPage = z.object({ jobs: z.array(exportJob), nextCursor: z.string().nullable() });
export type ExportJobPage = z.infer<typeof exportJobPage>;

/** An export's findings (`GET /v1/static-export/jobs/{jobId}/report`). */
export const exportReport = z.object({
  jobId: exportJobId,
  brokenLinks: z.array(
    z.object({ url: z.string(), reason: z.string(), status: z.int().nullable(), referrers: z.array(z.string()) }),
  ),
  /**
   * Links to a part of a page that the page doesn't have, such as `https://docs.example.com/guide#setup`. Empty if the service
   * gives none.
   */
  brokenAnchors: z.array(z.object({ url: z.string(), referrers: z.array(z.string()) })).default([]),
  redirects: z.array(z.object({ from: z.string(), to: z.string(), status: z.int() })),
  skippedPages: z.array(z.object({ url: z.string(), reason: z.string() })),
  /**
   * The rules that skipped URLs, with a count (for an endless site a minimum) and examples. Empty if the
   * service gives none.
   */
  leftOut: z
    .array(z.object({ rule: z.string(), reason: z.string(), count: z.int(), examples: z.array(z.string()) }))
    .default([]),
  /**
   * Documents that could not be read, or not to their end: links that were not read still lead to the origin.
   * Empty if the service gives none.
   */
  unread: z.array(z.object({ url: z.string(), reason: z.string() })).default([]),
  /**
   * The files that still have the address of the origin, and how often: in visible text and in code, which an export
   * doesn't change. Empty if the service gives none.
   */
  originUrls: z.array(z.object({ url: z.string(), count: z.int() })).default([]),
  /**
   * Notices about a page, or (`url` null) about the whole, for example what a browser could not render. Empty if
   * the service gives none.
   */
  notices: z.array(z.object({ url: z.string().nullable(), text: z.string() })).default([]),
  /**
   * The search of the bundle; absent if the project wants none. `made`: `index` is its folder, with a search page for each
   * language, the one with the most pages first. `own`: the site keeps its own, whose index is the file `index`. `failed`:
   * the bundle has none, for this `reason`.
   */
  search: z
    .object({
      state: z.enum(['made', 'own', 'failed']),
      index: z.string().nullable(),
      languages: z.array(z.object({ language: z.string(), pageCount: z.int(), page: z.string() })),
      reason: z.string().nullable(),
    })
    .optional(),
  /** Pages that have a twin in Markdown: one of the origin, or one that the export made; absent if the service doesn't say. */
  markdown: z.object({ fetched: z.int(), made: z.int() }).optional(),
  /** Whether the export made a sitemap, because the origin has none. */
  sitemapMade: z.boolean().optional(),
  /** The comparison with the origin in a browser; absent if the project wants none. */
  proof: reportedProof.optional(),
  /** True if one of the lists was cut; the counts are complete. */
  truncated: z.boolean(),
  counts: z.object({
    brokenLinks: z.int(),
    brokenAnchors: z.int().default(0),
    redirects: z.int(),
    skippedPages: z.int(),
    originUrls: z.int().default(0),
  }),
  /** What an incremental export reused from the project's last one; absent if it reused nothing, or the service doesn't say. */
  reuse: z
    .object({
      /** URLs whose response equals what the last export stored. */
      unchangedAddresses: z.int(),
      files: z.int(),
      /** Files copied from the last archive, neither rewritten nor compressed again. */
      reusedFiles: z.int(),
    })
    .optional(),
});
export type ExportReport = z.infer<typeof exportReport>;

/**
 * What an export changed (`GET /v1/static-export/jobs/{jobId}/changes`). Paths are those of the bundle, sorted.
 * `since`: the project's completed export before it, of the same pages; null if it is the first.
 */
export const exportChanges = z.object({
  since: exportJobId.nullable(),
  added: z.array(z.string()),
  changed: z.array(z.string()),
  removed: z.array(z.string()),
  /** Links that the export before doesn't report as broken, each with every page that has it. */
  newlyBroken: z.array(z.object({ link: z.string(), referrer: z.string() })),
});
export type ExportChanges = z.infer<typeof exportChanges>;

export const agentJobStatus = z.enum(['active', 'completed', 'archived', 'failed']);
export type AgentJobStatus = z.infer<typeof agentJobStatus>;

/** An agent job. `error` is set when it failed; `prLink` is null while active. */
export const agentJobSchema = z.object({
  id: z.string(),
  status: agentJobStatus,
  source: z.object({ repository: z.string(), ref: z.string().nullable() }),
  model: z.string(),
  prLink: z.url().nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
  archivedAt: timestamp.nullable(),
  error: z.string().nullable(),
});
export type AgentJob = z.infer<typeof agentJobSchema>;

export const agentCancellation = z.object({ result: cancelResult, job: agentJobSchema });
export type AgentCancellation = z.infer<typeof agentCancellation>;

export const agentJobPage = z.object({ jobs: z.array(agentJobSchema), nextCursor: z.string().nullable() });
export type AgentJobPage = z.infer<typeof agentJobPage>;

/** The longest prompt in characters; a longer one gets 400. */
export const MAX_PROMPT_CHARACTERS = 100_000;

export const promptRequest = z.strictObject({ prompt: z.string().min(1).max(MAX_PROMPT_CHARACTERS) });
export type PromptRequest = z.infer<typeof promptRequest>;
