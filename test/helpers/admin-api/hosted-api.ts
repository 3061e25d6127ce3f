import { buildBundle, siteOf } from '../../deployment/bundles.ts';
import { startHttpSite } from '../http-site.ts';
import { HOSTED_KEY, startSeedAdminApi } from '../system/seed-system.ts';
import { startProjectFormApi } from './project-form-api.ts';

/** The domain that form `domain` exports. Form `project` takes any project. */
export const HOSTED_DOMAIN = 'docs.example.test';

const LINK_TTL_MS = 30_000;

/** What each page of an edition contains. */
export const editionName = (edition: number): string => `edition ${edition}`;

/** A service with exactly the published fields of one form of static export, and a bundle for each job. */
export type HostedApi = {
  url: string;
  /** The content of jobs that start from now on. */
  edit(edition: number): void;
  /** How many jobs were started. */
  starts(): number;
  close(): Promise<void>;
};

export async function startDomainForm(): Promise<HostedApi> {
  const api = await startSeedAdminApi({ key: HOSTED_KEY, linkTtlMs: LINK_TTL_MS, statusWords: ['queued'] });
  return {
    url: api.url,
    edit: (edition) => api.edit(HOSTED_DOMAIN, editionName(edition)),
    starts: () => api.exports(HOSTED_DOMAIN).length,
    close: api.close,
  };
}

export async function startProjectForm(): Promise<HostedApi> {
  const api = await startProjectFormApi({ key: HOSTED_KEY });
  const objects = await startHttpSite(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://objects.invalid');
    const job = api.jobs.find(({ jobId }) => pathname.startsWith(`/${jobId}/`));
    if (job === undefined || Date.now() > Number(searchParams.get('expires'))) response.writeHead(403).end();
    else response.end(await buildBundle(siteOf(editionName(job.content))));
  });
  Object.assign(api.behaviour, {
    startsPerHour: 1_000,
    linkLifetimeMs: LINK_TTL_MS,
    bundleUrl: ({ jobId }: { jobId: string }) => `${objects.origin}/${jobId}/bundle.tar.gz`,
  });
  return {
    url: api.url,
    edit: (edition) => {
      api.behaviour.content = edition;
    },
    starts: () => api.jobs.length,
    close: async () => {
      await objects.close();
      await api.close();
    },
  };
}
