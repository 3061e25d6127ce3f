import { z } from 'zod';

/**
 * The Admin API's wire format, as the platform answers it (seed, "Resources and their fields", completed by the
 * contract). A client must be more tolerant than this: it reads only the seed's fields.
 */

const timestamp = z.iso.datetime({ offset: true });

export const exportJobStatus = z.enum(['queued', 'running', 'completed', 'failed']);
export type ExportJobStatus = z.infer<typeof exportJobStatus>;

export const exportJobId = z.string().regex(/^se_[0-9a-f]{16}$/);

/** A static export job. `progress` is 0 to 100; neither it nor `pageCount` ever falls. */
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

/** A DNS name as a site is published under: lower case, at least one dot or `localhost`, no port. */
export const domainName = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(
    /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/,
    'expected a domain name such as docs.example.com',
  );

/** What a version may look like: it stands in file names, headers and the values file. */
export const versionLabel = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]*$/, 'expected letters, digits, ".", "_", "+" or "-"');

export const startExportRequest = z.strictObject({
  domain: domainName,
  version: versionLabel.optional(),
  // Bounded so that every list within the bounds also fits the 1 MiB that a body may have.
  paths: z
    .array(z.string().startsWith('/', 'expected a path that starts with "/"').max(1000))
    .min(1)
    .max(1000)
    .optional(),
});
export type StartExportRequest = z.infer<typeof startExportRequest>;

/** A presigned link to the packed export. The link ends at `expiresAt`; the job and its files stay. */
export const bundle = z.object({
  jobId: exportJobId,
  bundleUrl: z.url(),
  expiresAt: timestamp,
  sizeBytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  version: z.string(),
});
export type Bundle = z.infer<typeof bundle>;

export const cancelResult = z.enum(['accepted', 'already-finished']);

export const exportCancellation = z.object({ result: cancelResult, job: exportJob });
export type ExportCancellation = z.infer<typeof exportCancellation>;

export const exportJobPage = z.object({ jobs: z.array(exportJob), nextCursor: z.string().nullable() });
export type ExportJobPage = z.infer<typeof exportJobPage>;

/** What the export met on its way (`GET /v1/static-export/jobs/{jobId}/report`). */
export const exportReport = z.object({
  jobId: exportJobId,
  brokenLinks: z.array(
    z.object({ url: z.string(), reason: z.string(), status: z.int().nullable(), referrers: z.array(z.string()) }),
  ),
  redirects: z.array(z.object({ from: z.string(), to: z.string(), status: z.int() })),
  skippedPages: z.array(z.object({ url: z.string(), reason: z.string() })),
  /**
   * The rules that left addresses out: how many each (of an endless site at least so many), and some of them. Empty in
   * reports of older releases.
   */
  leftOut: z
    .array(z.object({ rule: z.string(), reason: z.string(), count: z.int(), examples: z.array(z.string()) }))
    .default([]),
  /**
   * What else its owner should know, of a page or (`url` null) of the whole: what a browser could not draw or was refused.
   * Empty in reports of older releases.
   */
  notices: z.array(z.object({ url: z.string().nullable(), text: z.string() })).default([]),
  /** True where one of the lists was cut; the counts below are whole. */
  truncated: z.boolean(),
  counts: z.object({ brokenLinks: z.int(), redirects: z.int(), skippedPages: z.int() }),
  /** What an incremental export took over from the project's last one; absent in reports of older releases. */
  reuse: z
    .object({
      /** Addresses whose answer was what the last export had stored. */
      unchangedAddresses: z.int(),
      files: z.int(),
      /** Files copied from the last archive, neither rewritten nor compressed again. */
      reusedFiles: z.int(),
    })
    .optional(),
});
export type ExportReport = z.infer<typeof exportReport>;

export const agentJobStatus = z.enum(['active', 'completed', 'archived', 'failed']);
export type AgentJobStatus = z.infer<typeof agentJobStatus>;

/** An agent job: the seed's fields, `updatedAt`, and `error` (set when failed). `prLink` is null while active. */
export const agentJob = z.object({
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
export type AgentJob = z.infer<typeof agentJob>;

export const agentCancellation = z.object({ result: cancelResult, job: agentJob });
export type AgentCancellation = z.infer<typeof agentCancellation>;

export const agentJobPage = z.object({ jobs: z.array(agentJob), nextCursor: z.string().nullable() });
export type AgentJobPage = z.infer<typeof agentJobPage>;

/** The longest prompt in characters; past it 400. */
export const MAX_PROMPT_CHARACTERS = 100_000;

export const promptRequest = z.strictObject({ prompt: z.string().min(1).max(MAX_PROMPT_CHARACTERS) });
export type PromptRequest = z.infer<typeof promptRequest>;
