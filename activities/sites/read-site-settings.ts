import {
  type DeploymentConfig,
  deploymentName,
  deploymentPlace,
  deploymentUrl,
  targetOf,
} from '../../contract/deployment-config.ts';
import { CONFIRM_WITHIN_MS } from '../../contract/export-defaults.ts';
import type { NotificationType } from '../../contract/notification.ts';
import type { DeploymentSettings, SiteSettings } from '../../contract/settings.ts';
import { notConfigured } from '../not-configured.ts';
import type { ReadSite } from './read-site.ts';

export type SiteSettingsDeps = {
  readSite: ReadSite;
  minRefreshIntervalMs: number;
  operators: readonly string[];
  /** Whether a mail server is configured. */
  mail: boolean;
  /** The types of events that any target of notifications gets. */
  notify: readonly NotificationType[];
  searchAttributes: boolean;
  /** Starts that the Admin API allows per hour, if galley.yaml says it. */
  startsPerHour?: number | undefined;
  /** The public URL of the api; without it, Temporal's UI has no link to the site's page. */
  publicUrl?: string | undefined;
};

/**
 * Reads a site's settings at each call, so a changed configuration needs no new workflow. It reads no other file, so it never
 * hangs. Throws `NotConfigured`
 * (not-configured.ts).
 */
export function createReadSiteSettings(deps: SiteSettingsDeps) {
  return async function readSiteSettings({ site }: { site: string }): Promise<SiteSettings> {
    const config = await deps.readSite(site);
    const operators = deps.mail ? [...deps.operators] : [];
    if (config === undefined) throw notConfigured(`the site ${site}`, operators);
    const { timeout, quietPeriod, maxWait, whenBusy, refreshMargin, deployments, tellAfter, guards } = config.export;
    return {
      domain: config.domain,
      ...(config.projectId !== undefined && { projectId: config.projectId }),
      ...(config.export.basePath !== undefined && { basePath: config.export.basePath }),
      ...(deps.startsPerHour !== undefined && { startsPerHour: deps.startsPerHour }),
      timeoutMs: timeout,
      quietPeriodMs: quietPeriod,
      maxWaitMs: maxWait,
      whenBusy,
      refreshMargin,
      minRefreshIntervalMs: deps.minRefreshIntervalMs,
      deployments: deployments.map(settingsOf),
      operators,
      tellAfterMs: tellAfter,
      ...(deps.publicUrl !== undefined && { pageUrl: `${deps.publicUrl}/ui/sites/${site}` }),
      notify: [...deps.notify],
      ...(guards !== undefined && { guards }),
      searchAttributes: deps.searchAttributes,
    };
  };
}

function settingsOf(deployment: DeploymentConfig): DeploymentSettings {
  const { host = null, wave = 1, approve = false, integrity = true, statusUrl, confirmWithin, rollback } = deployment;
  const isAsked = statusUrl !== undefined;
  return {
    place: deploymentPlace(deployment),
    name: deploymentName(deployment),
    kind: targetOf(deployment).kind,
    host,
    wave,
    approve,
    ...(integrity ? {} : { integrity }),
    url: deploymentUrl(deployment),
    confirm: isAsked ? { withinMs: confirmWithin ?? CONFIRM_WITHIN_MS, rollback: rollback === 'auto' } : null,
  };
}
