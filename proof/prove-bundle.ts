import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { BrowserContext } from 'playwright-core';
import {
  MAX_DIFFERING_SHARE,
  MAX_MASKED_SHARE,
  type Proof,
  type ProofFinding,
  type ProofPage,
} from '../contract/proof.ts';
import type { Renderer } from '../exporter/ports.ts';
import type { Site } from '../exporter/urls/identity.ts';
import { comparePictures, type PictureComparison } from './compare-pictures.ts';
import { compareVisits, hostsWithoutNetwork } from './compare-visits.ts';
import { createIdentify, type Identify } from './identify-url.ts';
import { openSides, type Sides } from './open-sides.ts';
import { sameTimeAndChance } from './page-scripts.ts';
import { type PickedPage, pickPages } from './pick-pages.ts';
import { type Excerpt, renderProofPage } from './proof-page.tsx';
import { type ServedBundle, serveBundle } from './serve-bundle.ts';
import { NotOpened, reasonOf, VIEWPORTS, type Viewport, type Visit, visitPage } from './visit.ts';

export type ProofTask = {
  /** The unpacked bundle. */
  folder: string;
  site: Site;
  /** The operator's origin as `host:port`, if it may be private. */
  operatorHosts: readonly string[];
  maxPages: number;
  browser: Renderer;
  logger: Logger;
  signal: AbortSignal;
  onProgress(progress: { doneCount: number; pageCount: number }): void;
};

/** Pictures in `proof.html`; the others are only described. */
const MAX_EXCERPTS = 20;
const MAX_EXCERPT_BYTES = 8 * 1024 ** 2;
/** A visit's steps have their own limits, which add up to less. */
const PAGES_AT_ONCE = 2;
const MAX_ROUNDS = 3;
/** A page is read when its scripts have changed nothing for this long. Some pause for a second between their parts. */
const STILL_MS = 300;
const PATIENT_MS = 2_000;

/**
 * Opens pages of a bundle and of its origin in a browser, and compares them. The bundle is served as by a deployment, and
 * its pages reach nothing else.
 * @returns the result, and the page that shows it. Throws the signal's reason, and BrowserGone if no browser starts.
 */
export async function proveBundle(task: ProofTask): Promise<{ proof: Proof; html: string }> {
  const bundle = await serveBundle(task.folder, task.logger);
  try {
    const sides = await openSides({ ...task, bundleOrigin: bundle.origin });
    try {
      return await provePages({ ...task, bundle, sides });
    } finally {
      await sides.close();
    }
  } finally {
    await bundle.close();
  }
}

type Work = ProofTask & { bundle: ServedBundle; sides: Sides };
/** `withoutHosts`: hosts that neither side reaches. */
type Target = { target: string; stillMs: number; withoutHosts: string[] };

async function provePages(work: Work): Promise<{ proof: Proof; html: string }> {
  const { bundle, site, signal, folder, maxPages, onProgress } = work;
  const { manifest } = bundle.site;
  const { picked, templateCount, pageCount } = await pickPages(folder, manifest, maxPages);
  const identify = createIdentify(site, bundle.site, bundle.origin);
  const atOnce = pLimit(PAGES_AT_ONCE);
  const excerpts: Excerpt[] = [];
  let doneCount = 0;
  const pages = await Promise.all(
    picked.map((page) =>
      atOnce(async () => {
        signal.throwIfAborted();
        const proved = await provePage(work, page, identify, (excerpt) => addExcerpt(excerpts, excerpt));
        doneCount += 1;
        onProgress({ doneCount, pageCount: picked.length });
        return proved;
      }),
    ),
  );
  const counted = (status: ProofPage['status']): number => pages.filter((page) => page.status === status).length;
  const [equal, different, unknown] = [counted('equal'), counted('different'), counted('unknown')];
  const { jobId, domain, version, contentSha256 } = manifest;
  const proof: Proof = {
    formatVersion: 1,
    ...{ jobId, domain, version, contentSha256 },
    createdAt: new Date().toISOString(),
    browser: `Chromium ${work.sides.browserVersion()}`,
    status: different > 0 ? 'failed' : equal > 0 ? 'passed' : 'unknown',
    counts: { pagesInBundle: pageCount, pages: pages.length, templates: templateCount, equal, different, unknown },
    pages,
  };
  return { proof, html: renderProofPage(proof, excerpts) };
}

function addExcerpt(excerpts: Excerpt[], excerpt: Excerpt): void {
  const sizeBytes = [...excerpts, excerpt].reduce((sum, { origin, bundle }) => sum + origin.length + bundle.length, 0);
  if (excerpts.length < MAX_EXCERPTS && sizeBytes <= MAX_EXCERPT_BYTES) excerpts.push(excerpt);
}

type Shown = { viewport: Viewport; origin: Visit; bundle: Visit };

async function provePage(
  work: Work,
  { target, template }: PickedPage,
  identify: Identify,
  onExcerpt: (excerpt: Excerpt) => void,
): Promise<ProofPage> {
  const url = `https://${work.site.domain}${target}`;
  const unknown = (reason: string): ProofPage => ({
    ...{ url, template, status: 'unknown', reason, differingShare: 0, maskedShare: 0, findings: [] },
  });
  try {
    const withoutHosts: string[] = [];
    const quick = await visitAlike(work, { target, stillMs: STILL_MS, withoutHosts }, identify);
    if (typeof quick === 'string') return unknown(quick);
    const common = { url, template, ...(withoutHosts.length > 0 && { withoutHosts }) };
    let attempt = judge(quick, undefined, identify);
    if (attempt.findings.length === 0) return { ...common, ...sharesOf(attempt), status: 'equal', reason: null };
    const patient = { target, stillMs: PATIENT_MS, withoutHosts };
    const first = await visitBoth(work, patient);
    if (typeof first === 'string') return unknown(first);
    attempt = judge(first, undefined, identify);
    if (attempt.findings.length === 0) return { ...common, ...sharesOf(attempt), status: 'equal', reason: null };
    // What differs between visits to the origin is no fault, and neither is what a second visit doesn't show again.
    const second = await visitBoth(work, patient);
    if (typeof second === 'string') return unknown(second);
    const again = judge(second, first, identify);
    if (again.maskedShare > MAX_MASKED_SHARE) {
      const reason = 'more than 20 % of it differs between two visits to the origin';
      return { ...common, ...sharesOf(again), findings: [], status: 'unknown', reason };
    }
    const before = judge(first, second, identify);
    const lasting = before.findings.length === 0 ? before : again;
    if (lasting.findings.length > 0)
      for (const { viewport, excerpt } of lasting.excerpts) onExcerpt({ url, viewport, ...excerpt });
    const status = lasting.findings.length === 0 ? 'equal' : 'different';
    return { ...common, ...sharesOf(lasting), status, reason: null };
  } catch (error) {
    work.signal.throwIfAborted();
    return unknown(reasonOf(error));
  }
}

const sharesOf = ({ differingShare, maskedShare, findings }: Judged) => ({ differingShare, maskedShare, findings });

/**
 * Like `visitBoth`. If the page needs other hosts at the origin as well, adds them to `withoutHosts` and visits both sides
 * without them.
 */
async function visitAlike(work: Work, page: Target, identify: Identify) {
  const { withoutHosts } = page;
  let shown = await visitBoth(work, page);
  // What one host sends may be what needs another one.
  for (let rounds = 0; rounds < MAX_ROUNDS && typeof shown !== 'string'; rounds += 1) {
    const hosts = new Set(shown.flatMap((each) => hostsWithoutNetwork(each, identify)));
    const more = [...hosts].filter((host) => !withoutHosts.includes(host));
    if (more.length === 0) break;
    withoutHosts.push(...more);
    shown = await visitBoth(work, page);
  }
  return shown;
}

/** Both sides at all widths; a text says why the origin's page can't be compared. */
async function visitBoth(work: Work, page: Target): Promise<Shown[] | string> {
  const { sides, site, bundle } = work;
  const { target } = page;
  const [origin, own] = await Promise.allSettled([
    visitAll(work, sides.useOrigin, site.origin + target, page),
    visitAll(work, sides.useBundle, bundle.origin + target, page),
  ]);
  work.signal.throwIfAborted();
  if (origin.status === 'rejected') {
    if (!(origin.reason instanceof NotOpened)) throw origin.reason;
    return `the origin doesn't show it: ${origin.reason.message}`;
  }
  if (own.status === 'rejected' && !(own.reason instanceof NotOpened)) throw own.reason;
  const reason = own.status === 'rejected' ? reasonOf(own.reason) : '';
  return VIEWPORTS.map((viewport, index) => {
    const visit = origin.value[index];
    if (visit === undefined) throw new Error('a visit is missing');
    const shown = own.status === 'fulfilled' ? own.value[index] : undefined;
    return { viewport, origin: visit, bundle: shown ?? notShown(bundle.origin + target, reason, visit) };
  });
}

/** A page that the bundle's server doesn't show. */
function notShown(url: string, reason: string, { picture, height }: Visit): Visit {
  const failedRequests = [{ url, reason }];
  return { url, text: '', links: [], images: [], consoleErrors: [], failedRequests, hosts: new Set(), picture, height };
}

async function visitAll(
  { signal, bundle }: Work,
  use: Sides['useOrigin'],
  url: string,
  { withoutHosts, stillMs }: Target,
): Promise<Visit[]> {
  const atMs = Date.parse(bundle.site.manifest.createdAt);
  return await use(signal, async (context: BrowserContext) => {
    if (withoutHosts.length > 0)
      await context.route(
        ({ host }) => withoutHosts.includes(host),
        (route) => route.abort('internetdisconnected'),
      );
    await context.addInitScript({ content: sameTimeAndChance(atMs) });
    const visits: Visit[] = [];
    for (const viewport of VIEWPORTS) visits.push(await visitPage(context, url, { viewport, stillMs }));
    return visits;
  });
}

type Judged = {
  differingShare: number;
  maskedShare: number;
  findings: ProofFinding[];
  excerpts: { viewport: Viewport['name']; excerpt: NonNullable<PictureComparison['excerpt']> }[];
};

function judge(shown: readonly Shown[], other: readonly Shown[] | undefined, identify: Identify): Judged {
  const judged: Judged = { differingShare: 0, maskedShare: 0, findings: [], excerpts: [] };
  for (const [index, { viewport, origin, bundle }] of shown.entries()) {
    const again = other?.[index]?.origin;
    for (const found of compareVisits({ origin, again, bundle }, identify)) {
      const same = judged.findings.find(({ kind, text }) => kind === found.kind && text === found.text);
      if (same === undefined) judged.findings.push({ ...found, viewport: viewport.name });
      else same.viewport = null;
    }
    const { differingShare, maskedShare, excerpt } = comparePictures(origin.picture, bundle.picture, again?.picture);
    judged.differingShare = Math.max(judged.differingShare, differingShare);
    judged.maskedShare = Math.max(judged.maskedShare, maskedShare);
    if (differingShare < MAX_DIFFERING_SHARE || excerpt === undefined) continue;
    const text = `${(differingShare * 100).toFixed(2)} % of the pixels differ`;
    judged.findings.push({ kind: 'pixels', viewport: viewport.name, text });
    judged.excerpts.push({ viewport: viewport.name, excerpt });
  }
  return judged;
}
