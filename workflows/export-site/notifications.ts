import { cutText } from '../../contract/cut-text.ts';
import { enqueueEvent, eventId } from '../notifications/outbox.ts';
import type { SiteRun } from './run.ts';
import { siteVersion, troubleOf } from './status.ts';
import { publishesReported } from './transitions.ts';

/** What a site reports to the targets of `notify`. Each function only changes the state. */

/** An export begins: one event for all of its publishes, and none if it retries what was reported before. */
export function notifyPublished(run: SiteRun): void {
  const { exporting } = run.state;
  if (exporting === null || exporting.publishes.count === 0) return;
  if (!publishesReported(run.state, exporting.publishes.lastAtMs)) return;
  const { count, newest } = exporting.publishes;
  enqueueEvent(run, {
    ...occurrence('published'),
    type: 'published',
    data: {
      ...siteOf(run),
      publishes: count,
      title: cutText(newest?.title ?? '', 500),
      url: cutText(newest?.url ?? '', 2_000),
    },
  });
}

/** The first deployment that serves a version makes it served. Refreshes of its link are no event. */
export function notifyServed(run: SiteRun): void {
  const { state } = run;
  const [served] = state.deployments
    .filter((each) => each.lastGood !== null && each.lastGood === each.written?.jobId && !each.off)
    .flatMap((each) => state.jobs.find(({ jobId }) => jobId === each.lastGood) ?? [])
    .toSorted((a, b) => b.upTo - a.upTo);
  if (served === undefined || state.reportedServed === served.jobId) return;
  const { jobId, version } = served;
  const rolledBack = state.newest !== jobId;
  state.reportedServed = jobId;
  enqueueEvent(run, {
    ...occurrence('served'),
    type: 'served',
    data: { ...siteOf(run), version, jobId, rolledBack },
  });
}

export function notifyFailed(run: SiteRun, since: Date): void {
  const error = troubleOf(run.state);
  enqueueEvent(run, {
    ...occurrence('failed'),
    type: 'failed',
    data: {
      ...siteOf(run),
      since: since.toISOString(),
      error: cutText(error?.message ?? '', 500),
      status: error?.status ?? null,
    },
  });
}

export function notifyRecovered(run: SiteRun, since: Date): void {
  const { version } = siteVersion(run.state);
  enqueueEvent(run, {
    ...occurrence('recovered'),
    type: 'recovered',
    data: { ...siteOf(run), since: since.toISOString(), version },
  });
}

function occurrence(type: 'published' | 'served' | 'failed' | 'recovered') {
  const atMs = Date.now();
  return { id: eventId(type, atMs), at: new Date(atMs).toISOString() };
}

function siteOf({ site, settings }: SiteRun): { site: string; domain: string } {
  return { site, domain: settings.domain };
}
