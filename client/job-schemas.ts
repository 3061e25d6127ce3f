import { z } from 'zod';
import {
  type agentJobSchema,
  agentJobStatus,
  bundle,
  type exportJob,
  exportJobStatus,
  opaqueId,
} from '../contract/admin-api.ts';
import { parseTimestampMs } from './timestamps.ts';

/**
 * What the client reads from a response. A service need not send every field: one that isn't required here is null if it
 * is missing or can't be read.
 */

/** A number counts as its digits. */
export const receivedId = z.union([z.string(), z.number().transform(String)]).pipe(opaqueId);

/** Any value, or a missing one. */
const anything = z.unknown().optional();

/** A number counts as its digits. */
const text = anything.transform((value): string | null => {
  const read = typeof value === 'number' ? String(value) : value;
  return typeof read === 'string' && read.trim() !== '' ? read : null;
});

/** A number, or a text that begins with one, such as "42 %". */
const number = anything.transform((value): number | null => {
  const read = typeof value === 'string' ? Number.parseFloat(value) : value;
  return typeof read === 'number' && Number.isFinite(read) ? read : null;
});

/** The largest time that `Date` can hold. */
const LATEST_MS = 8.64e15;

/** RFC 3339 in UTC. */
export const time = anything.transform((value): string | null => {
  const ms = parseTimestampMs(value);
  return ms === undefined || Math.abs(ms) > LATEST_MS ? null : new Date(ms).toISOString();
});

/** Lower case. */
export const statusText = z
  .string()
  .refine((status) => status.trim() !== '')
  .transform((status) => status.trim().toLowerCase());

export const receivedExportJob = z.object({
  jobId: receivedId,
  /** A status that the API doesn't have means running. */
  status: statusText.pipe(exportJobStatus.catch('running')),
  progress: number,
  pageCount: number,
  version: text,
  domain: text,
  createdAt: time,
  updatedAt: time,
  error: text,
} satisfies Record<keyof typeof exportJob.shape, z.ZodType>);

/** A static export job. `progress` is 0 to 100; a field that the service doesn't give is null. */
export type ExportJob = z.infer<typeof receivedExportJob>;

export const receivedBundle = z.object({
  jobId: receivedId,
  bundleUrl: bundle.shape.bundleUrl,
  expiresAt: time,
  sizeBytes: number,
  sha256: text,
  /** Missing if the service doesn't report it. */
  manifestSha256: bundle.shape.manifestSha256.catch(undefined),
  version: text,
} satisfies Record<keyof typeof bundle.shape, z.ZodType>);

/** A presigned link to a completed job's archive. */
export type Bundle = z.infer<typeof receivedBundle>;

export const receivedAgentJob = z.object({
  id: receivedId,
  /** A status that the API doesn't have means active. */
  status: statusText.pipe(agentJobStatus.catch('active')),
  source: z.object({ repository: text, ref: text }).catch({ repository: null, ref: null }),
  model: text,
  /** The URL as the service sent it: check its protocol before you link to it. */
  prLink: text,
  createdAt: time,
  updatedAt: time,
  archivedAt: time,
  error: text,
} satisfies Record<keyof typeof agentJobSchema.shape, z.ZodType>);

/** An agent job; a field that the service doesn't give is null. */
export type AgentJob = z.infer<typeof receivedAgentJob>;
