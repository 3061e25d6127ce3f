import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import type { FoundUrl } from '../../../../exporter/crawl-records.ts';
import {
  createPlatformActivities,
  type PlatformActivities,
} from '../../../../platform/activities/create-platform-activities.ts';
import { settleUrls } from '../../../../platform/store/frontier.ts';
import { type DirectRig, startDirectRig } from '../../../helpers/direct-export.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../../../helpers/http-site.ts';

export const HOME = 'https://docs.example.com';
export const logger = pino({ level: 'silent' });

/** What the origin serves by default. */
export const SITE = serveFiles({
  '/': '<p>start',
  '/late': '<p>late',
  '/robots.txt': { body: '', status: 302, headers: { location: '/' } },
});

/** An origin, and the activities of an export, which a test calls one by one. */
export type StagesFixture = {
  rig: DirectRig;
  server: HttpSite;
  activities: PlatformActivities;
  /** A job of a new project with these settings. */
  job(settings?: Record<string, unknown>): Promise<string>;
  /** Adds URLs of the site to the frontier. */
  find(jobId: string, found: ReadonlyArray<Partial<FoundUrl> & { url: string }>): Promise<void>;
  statesOf(jobId: string): Promise<Map<string, string>>;
  stop(): Promise<void>;
};

export async function startStagesFixture(): Promise<StagesFixture> {
  const rig = await startDirectRig();
  const server = await startHttpSite(SITE);
  return {
    rig,
    server,
    activities: createPlatformActivities({ ...rig, logger }),
    job: async (settings = {}) => rig.addJob(await rig.addProject(server.origin, settings)),
    async find(jobId, urls) {
      const found = urls.map((url) => ({ rank: 4, depth: 1, foundOn: null, skip: null, take: false, ...url }));
      await settleUrls(rig.db, { jobId, token: '', leaseMs: 60_000, settled: [], found });
    },
    async statesOf(jobId) {
      const { rows } = await rig.db.execute<{ url: string; state: string }>(
        `select url, state from crawl_urls where job_id = '${jobId}'`,
      );
      return new Map(rows.map(({ url, state }) => [url, state]));
    },
    async stop() {
      await server.close();
      await rig.stop();
    },
  };
}

export function runActivity<Result>(work: () => Promise<Result>): Promise<Result> {
  return new MockActivityEnvironment().run(work);
}
