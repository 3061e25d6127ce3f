import { ApplicationFailure } from '@temporalio/common';
import type { ExportReport } from '../../contract/admin-api.ts';
import type { Guards } from '../../contract/settings.ts';
import type { CallAdminApi } from './call-admin-api.ts';
import { readOrGone } from './poll-job.ts';
import type { ExportPlace, ExportRef, StaticExport } from './static-export.ts';

type JudgeExportInput = ExportPlace & {
  jobId: string;
  domain: string;
  /** The job that is served: what the export is compared with. */
  servedJobId: string;
  guards: Guards;
  /** A person approves each version, also one that no guard holds. */
  wantsPreview?: boolean;
};

/** What the guards compare; null if the service doesn't give it. */
export type JudgedExport = { pageCount: number | null; report: ExportReport | null };

export type Judgement = {
  reasons: string[];
  notChecked?: string[];
  /** Shows an export that a person decides about for a day. Null or missing if the service has no preview of it. */
  previewUrl?: string | null;
};

/** Paths of sign-in pages, by their usual names. */
const SIGN_IN = /\/(?:(?:wp-)?log[-_]?in|sign[-_]?in|auth|sso|oauth2?|sessions?\/new)(?:\.\w+)?(?:\/|$)/i;

const MAX_REDIRECTS = 10;

/**
 * Why an export must not be deployed before someone has looked at it; empty if it may. Compares it with the served job,
 * because the export before may itself have been rejected. Judges only what the service reports: without reports that
 * is the number of pages. Throws `JobGone` if the export is unknown.
 */
export function createJudgeExport(call: CallAdminApi<StaticExport>) {
  const reportOf = async (ref: ExportRef): Promise<ExportReport | null> => {
    const outcome = await call('report', (exports, options) => exports.report(ref, options));
    return outcome.verdict === 'success' ? outcome.result : null;
  };
  /** Null if the service has none, or doesn't give one now: a person can look at the export without it, too. */
  const previewOf = async (ref: ExportRef): Promise<string | null> => {
    try {
      const outcome = await call('preview', (exports, options) => exports.preview(ref, options));
      return outcome.verdict === 'success' ? outcome.result.previewUrl : null;
    } catch (error) {
      if (error instanceof ApplicationFailure) return null;
      throw error;
    }
  };
  return async function judgeExport(input: JudgeExportInput): Promise<Judgement> {
    const { jobId, servedJobId, projectId, guards, domain, wantsPreview = false } = input;
    const own = { jobId, projectId };
    const other = { jobId: servedJobId, projectId };
    const { job } = readOrGone(await call('read', (exports, options) => exports.get(own, options)));
    const served = await call('read', (exports, options) => exports.get(other, options));
    const servedPages = served.verdict === 'success' ? served.result.pageCount : null;
    const now = { pageCount: job.pageCount, report: await reportOf(own) };
    const before = { pageCount: servedPages, report: await reportOf(other) };
    const reasons = reasonsToHold(guards, domain, before, now);
    return {
      reasons,
      notChecked: notChecked(guards, before, now),
      ...((reasons.length > 0 || wantsPreview) && { previewUrl: await previewOf(own) }),
    };
  };
}

/** One sentence for each guard that the export is beyond. Pure. */
export function reasonsToHold(guards: Guards, domain: string, before: JudgedExport, now: JudgedExport): string[] {
  return [
    shrinkOf(guards, before, now),
    newlyBroken(guards, before, now),
    guards.startPage ? startPageOf(domain, before, now) : null,
    guards.proof === false ? null : failedProof(now),
  ].filter((reason) => reason !== null);
}

/** The guards that the service gives nothing to check by: no page count, no report, or a proof that could not run. */
function notChecked({ startPage, proof }: Guards, before: JudgedExport, now: JudgedExport): string[] {
  const isCounted = before.pageCount !== null && now.pageCount !== null;
  return [
    ...(isCounted ? [] : ['maxShrink']),
    ...(before.report !== null && now.report !== null ? [] : ['maxNewlyBroken']),
    ...(startPage && now.report === null ? ['startPage'] : []),
    ...(proof !== false && now.report?.proof?.status === 'unknown' ? ['proof'] : []),
  ];
}

function shrinkOf({ maxShrink }: Guards, before: JudgedExport, now: JudgedExport): string | null {
  if (before.pageCount === null || now.pageCount === null || before.pageCount === 0) return null;
  const lost = before.pageCount - now.pageCount;
  if (lost <= before.pageCount * maxShrink) return null;
  const share = Math.round((lost / before.pageCount) * 100);
  return `${now.pageCount} pages instead of ${before.pageCount}: ${share} % fewer (maxShrink is ${Math.round(maxShrink * 100)} %)`;
}

function newlyBroken({ maxNewlyBroken }: Guards, before: JudgedExport, now: JudgedExport): string | null {
  if (before.report === null || now.report === null) return null;
  const known = new Set(before.report.brokenLinks.map(({ url }) => url));
  const listed = now.report.brokenLinks.filter(({ url }) => !known.has(url));
  // The lists may be cut, the counts are complete.
  const count = Math.max(listed.length, now.report.counts.brokenLinks - before.report.counts.brokenLinks);
  if (count <= maxNewlyBroken) return null;
  const example = listed[0] === undefined ? '' : `, for example ${listed[0].url.slice(0, 200)}`;
  return `${count} newly broken links${example} (maxNewlyBroken is ${maxNewlyBroken})`;
}

/** The start page leads to a sign-in page or is broken now, and wasn't before. */
function startPageOf(domain: string, before: JudgedExport, now: JudgedExport): string | null {
  if (now.report === null) return null;
  const fault = faultOfStartPage(domain, now.report);
  if (fault === null) return null;
  return before.report !== null && faultOfStartPage(domain, before.report) !== null ? null : fault;
}

/** Judged alone: what is served may never have been compared, or have the same fault. */
function failedProof({ report }: JudgedExport): string | null {
  if (report?.proof?.status !== 'failed') return null;
  const { counts, pages } = report.proof;
  const first = pages.find(({ status }) => status === 'different');
  const example = first === undefined ? '' : `, for example ${first.url.slice(0, 200)} (${first.text.slice(0, 200)})`;
  return `${counts.different} of ${counts.pages} pages differ from the origin in a browser${example}`;
}

function faultOfStartPage(domain: string, { brokenLinks, redirects }: ExportReport): string | null {
  let url = `https://${domain}/`;
  for (let hops = 0; hops < MAX_REDIRECTS; hops += 1) {
    const redirect = redirects.find(({ from }) => from === url);
    if (redirect === undefined) break;
    url = redirect.to;
  }
  const broken = brokenLinks.find((link) => link.url === url);
  if (broken !== undefined) return `the start page is an error: ${broken.status ?? broken.reason}`;
  if (URL.canParse(url) && SIGN_IN.test(new URL(url).pathname)) {
    return `the start page is a sign-in page now: it leads to ${url.slice(0, 200)}`;
  }
  return null;
}
