import { cutText } from '../../contract/cut-text.ts';
import { enqueueEvent, eventId } from '../notifications/outbox.ts';
import type { SiteRun } from './run.ts';
import { reportServed } from './targets.ts';
import { publishesReported } from './transitions.ts';
import { lastErrorOf } from './visibility.ts';

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

/** The first deployment that gets the live job makes it served. Refreshes of its link are no event. */
export function notifyServed(run: SiteRun): void {
  const { live } = run.state;
  if (live === null || !reportServed(run.state)) return;
  const { jobId, version, rolledBack } = live;
  enqueueEvent(run, {
    ...occurrence('served'),
    type: 'served',
    data: { ...siteOf(run), version, jobId, rolledBack },
  });
}

export function notifyFailed(run: SiteRun, since: Date): void {
  const error = lastErrorOf(run.state);
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
  const version = run.state.live?.version ?? null;
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
