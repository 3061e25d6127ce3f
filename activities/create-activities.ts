import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { ForgeReader } from '../forge/forge.ts';
import { createAdminApiActivities } from './admin-api/activities.ts';
import { createAdminApiClient } from './admin-api/http-client.ts';
import { createAgentJobActivities } from './agents/activities.ts';
import { createReadRuleSettings } from './agents/read-rule-settings.ts';
import { createDeploymentActivities } from './deployments/activities.ts';
import { createValuesFileTarget } from './deployments/values-file.ts';
import { createForgeActivities } from './forge/activities.ts';
import { createReviewerActivities } from './reviewers/activities.ts';
import type { Mailer } from './reviewers/mailer.ts';
import { createReadSiteSettings, type SiteSettingsDeps } from './sites/read-site-settings.ts';

export type ActivityDeps = Omit<SiteSettingsDeps, 'readSwitches' | 'operators' | 'mail'> & {
  adminApi: {
    url: string;
    key: string;
    /** Pauses between the first questions about a job, in milliseconds; see poll-job.ts. */
    quickAsksMs?: readonly number[];
  };
  /** Where reviews are asked for and pull requests are followed; without it only the mail part runs. */
  forge?: ForgeReader | undefined;
  /** The way to the mail server; without it nobody gets mail. Whoever made it closes it. */
  mailer?: Mailer | undefined;
  /** Where reviewers reach the receiver; without it mails carry no link to unsubscribe. */
  publicUrl?: string | undefined;
  /** Signs these links; the Admin API key by default. */
  unsubscribeKey?: string | undefined;
  /** For storing that a mail is being sent, and for asking who unsubscribed; the worker's own by default. */
  client?: Client | undefined;
  /** Mail addresses of those who are told of failures. */
  operators?: readonly string[];
  logger: Logger;
};

/** Every activity of the orchestrator. Keys stay in here: none of them is an argument or a result. */
export function createActivities(deps: ActivityDeps) {
  const { quickAsksMs } = deps.adminApi;
  const client = createAdminApiClient(deps.adminApi);
  const quickly = quickAsksMs === undefined ? {} : { quickAsksMs };
  const told = { operators: deps.operators ?? [], mail: deps.mailer !== undefined };
  return {
    ...createAdminApiActivities(client, quickly),
    ...createAgentJobActivities(client, { readSite: deps.readSite, ...quickly }),
    readRuleSettings: createReadRuleSettings({ ...deps, ...told, forge: deps.forge !== undefined }),
    ...createForgeActivities({ forge: deps.forge }),
    ...createReviewerActivities({ ...deps, unsubscribeKey: deps.unsubscribeKey ?? deps.adminApi.key }),
    ...createDeploymentActivities({ logger: deps.logger }),
    readSiteSettings: createReadSiteSettings({
      ...deps,
      ...told,
      readSwitches: (valuesFile) => createValuesFileTarget(valuesFile).readSwitches(),
    }),
  };
}

export type Activities = ReturnType<typeof createActivities>;
