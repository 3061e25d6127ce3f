import type { Logger } from 'pino';
import { createAdminApiActivities } from './admin-api/activities.ts';
import { createAdminApiClient } from './admin-api/http-client.ts';
import { createDeploymentActivities } from './deployments/activities.ts';
import { createValuesFileTarget } from './deployments/values-file.ts';
import { createReadSiteSettings, type SiteSettingsDeps } from './sites/read-site-settings.ts';

export type ActivityDeps = Omit<SiteSettingsDeps, 'readPin'> & {
  adminApi: {
    url: string;
    key: string;
    /** Pauses between the first questions about a job, in milliseconds; see poll-export.ts. */
    quickAsksMs?: readonly number[];
  };
  logger: Logger;
};

/** Every activity of the orchestrator. Keys stay in here: none of them is an argument or a result. */
export function createActivities(deps: ActivityDeps) {
  const { quickAsksMs } = deps.adminApi;
  return {
    ...createAdminApiActivities(createAdminApiClient(deps.adminApi), quickAsksMs === undefined ? {} : { quickAsksMs }),
    ...createDeploymentActivities({ logger: deps.logger }),
    readSiteSettings: createReadSiteSettings({
      ...deps,
      readPin: (valuesFile) => createValuesFileTarget(valuesFile).readPin(),
    }),
  };
}

export type Activities = ReturnType<typeof createActivities>;
