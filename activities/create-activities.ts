import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { createAdminApiClient } from '../client/admin-api-client.ts';
import type { StaticExportForm } from '../contract/admin-api.ts';
import type { NotifyConfig } from '../contract/galley-config.ts';
import type { SystemPool } from '../contract/pools.ts';
import type { ForgeReader } from '../forge/forge.ts';
import { createAdminApiActivities } from './admin-api/activities.ts';
import { createAgentJobActivities } from './agents/activities.ts';
import { createReadRuleSettings } from './agents/read-rule-settings.ts';
import { createDeploymentActivities } from './deployments/activities.ts';
import { createAskDeployment } from './deployments/ask-deployment.ts';
import type { TargetDeps } from './deployments/create-target.ts';
import { createFindOwner } from './deployments/find-owner.ts';
import { createForgeActivities } from './forge/activities.ts';
import { createMailActivities } from './mails/activities.ts';
import type { Mailer } from './mails/send/mailer.ts';
import { createSendNotification, type SendNotificationDeps } from './notifications/send-notification.ts';
import { createStartNotifications } from './notifications/start-notifications.ts';
import { targetsOf, wantedTypes } from './notifications/targets.ts';
import { createReadSiteSettings, type SiteSettingsDeps } from './sites/read-site-settings.ts';
import { createMessageGate } from './starts/message-gate.ts';
import { createWatchdogActivities } from './watchdog/activities.ts';

export type ActivityDeps = Omit<SiteSettingsDeps, 'operators' | 'mail' | 'notify'> & {
  adminApi: {
    url: string;
    key: string;
    /** See galley-config.ts. */
    staticExport?: StaticExportForm | 'auto';
    startsPerHour?: number | undefined;
    /** Pauses between the first polls of a job, in milliseconds; see poll-job.ts. */
    quickAsksMs?: readonly number[];
  };
  /** Without it reviews are requested by mail only, and pull requests aren't followed. */
  forge?: ForgeReader | undefined;
  /** Without it no mail is sent. The caller closes it. */
  mailer?: Mailer | undefined;
  /** The receiver's public URL; without it mails have no unsubscribe link. */
  publicUrl?: string | undefined;
  /** Signs unsubscribe links; the Admin API key by default. */
  unsubscribeKey?: string | undefined;
  /** Stores that a mail is being sent, and queries who unsubscribed; the worker's own client by default. */
  client?: Client | undefined;
  /** Mail addresses that get reports of failures. */
  operators?: readonly string[];
  /** Where notifications go. */
  notify?: NotifyConfig;
  /** Each successful check of the watchdog requests it. */
  heartbeatUrl?: string | undefined;
  /** What targets of deployments other than values files need. */
  targets?: TargetDeps | undefined;
  logger: Logger;
};

/**
 * All activities of the orchestrator: those that run beside its workflows, and those of each pool. Keys stay in here:
 * none is an argument or a result.
 */
export function createActivities(deps: ActivityDeps) {
  const { url, key, quickAsksMs, staticExport: form = 'domain', startsPerHour } = deps.adminApi;
  // Temporal retries, by what each outcome means.
  const client = createAdminApiClient({ url, key, retry: false });
  const quickly = quickAsksMs === undefined ? {} : { quickAsksMs };
  const notifyTargets = targetsOf(deps.notify ?? []);
  const notify = wantedTypes(notifyTargets);
  const operatorSettings = { operators: deps.operators ?? [], mail: deps.mailer !== undefined, notify };
  const mails = createMailActivities({ ...deps, unsubscribeKey: deps.unsubscribeKey ?? deps.adminApi.key });
  return {
    own: {
      ...createWatchdogActivities({ ...deps, ...operatorSettings }),
      messageGate: createMessageGate(deps),
      startNotifications: createStartNotifications({ ...deps, targets: notifyTargets }),
    },
    pools: {
      'admin-api': {
        ...createAdminApiActivities(client, { ...quickly, form }),
        ...createAgentJobActivities(client, { readSite: deps.readSite, ...quickly }),
      },
      mail: mails,
      'review-mail': mails,
      forge: createForgeActivities({ forge: deps.forge }),
      settings: {
        readRuleSettings: createReadRuleSettings({ ...deps, ...operatorSettings, forge: deps.forge !== undefined }),
        readSiteSettings: createReadSiteSettings({ ...deps, ...operatorSettings, startsPerHour }),
        findOwner: createFindOwner(deps),
      },
      status: { askDeployment: createAskDeployment(deps.readSite) },
    } satisfies Record<SystemPool, object>,
    deployments: createDeploymentActivities(deps),
  };
}

type Created = ReturnType<typeof createActivities>;
type Pools = Created['pools'];

/** All activities that workflows call. */
export type Activities = Created['own'] &
  Pools['admin-api'] &
  Pools['mail'] &
  Pools['forge'] &
  Pools['settings'] &
  Pools['status'] &
  Created['deployments'];

/** The activity of the notifications' own task queue. */
export function createNotificationActivities({
  notify = [],
  ...deps
}: Omit<SendNotificationDeps, 'targets'> & { notify?: NotifyConfig | undefined }) {
  return { sendNotification: createSendNotification({ ...deps, targets: targetsOf(notify) }) };
}

export type NotificationActivities = ReturnType<typeof createNotificationActivities>;
