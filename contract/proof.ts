import { z } from 'zod';

/** What a comparison in a browser finds. A finding names what the bundle shows otherwise than the origin. */
export const proofFinding = z.object({
  kind: z.enum(['page', 'text', 'link', 'image', 'request', 'console', 'pixels']),
  /** `desktop` or `phone`; null: in both. */
  viewport: z.enum(['desktop', 'phone']).nullable(),
  text: z.string(),
});
export type ProofFinding = z.infer<typeof proofFinding>;

export const proofPage = z.object({
  /** The page's public URL. */
  url: z.string(),
  /** The page's kind by URL and DOM: pages of one kind have the same number. */
  template: z.int(),
  status: z.enum(['equal', 'different', 'unknown']),
  /** Why it is unknown; otherwise null. */
  reason: z.string().nullable(),
  /** The largest share of pixels that differ, of those that aren't masked; 0 to 1. */
  differingShare: z.number(),
  /** The largest share of pixels that differ between two visits to the origin, and so were masked; 0 to 1. */
  maskedShare: z.number(),
  findings: z.array(proofFinding),
  /** Other hosts that the page needs at the origin as well. Both sides were opened without them. */
  withoutHosts: z.array(z.string()).optional(),
});
export type ProofPage = z.infer<typeof proofPage>;

/** The comparison of a bundle with its origin in a browser (`proof.json`). */
export const proof = z.object({
  formatVersion: z.literal(1),
  jobId: z.string(),
  domain: z.string(),
  version: z.string(),
  contentSha256: z.string(),
  createdAt: z.iso.datetime({ offset: true }),
  /** Such as `Chromium 131.0.6778.139`. */
  browser: z.string(),
  /** `failed`: a page is different. `unknown`: no page could be compared. */
  status: z.enum(['passed', 'failed', 'unknown']),
  counts: z.object({
    /** Pages of the bundle, and of them those that were opened. */
    pagesInBundle: z.int(),
    pages: z.int(),
    templates: z.int(),
    equal: z.int(),
    different: z.int(),
    unknown: z.int(),
  }),
  pages: z.array(proofPage),
});
export type Proof = z.infer<typeof proof>;

const MAX_PROOF_PAGES = 100_000;

/** Pages that each export of a project compares; 0: none. */
export const proofPages = z
  .int({ error: `expected a number of pages from 0 to ${MAX_PROOF_PAGES}` })
  .min(0)
  .max(MAX_PROOF_PAGES, `expected at most ${MAX_PROOF_PAGES} pages`);

/** What an export's report says of its proof. */
export const reportedProof = proof.pick({ status: true, counts: true }).extend({
  /** Why no page could be compared; otherwise null. */
  reason: z.string().nullable(),
  /** Some of the pages that aren't equal, different ones first, each with what was found first. */
  pages: z.array(proofPage.pick({ url: true, status: true }).extend({ text: z.string() })),
  /** The pages with the result, for members; null if there is none. */
  html: z.string().nullable(),
  json: z.string().nullable(),
});
export type ReportedProof = z.infer<typeof reportedProof>;

/** Pages that are opened unless a number is given. */
export const DEFAULT_PROOF_PAGES = 50;

/** A page counts as equal if fewer of its pixels differ. */
export const MAX_DIFFERING_SHARE = 0.001;
/** If two visits to the origin differ in more of the pixels, nothing is known about the page. */
export const MAX_MASKED_SHARE = 0.2;
