import { setTimeout as sleep } from 'node:timers/promises';
import { type DeploymentConfig, deploymentName, localValuesFiles, targetOf } from '../../contract/deployment-config.ts';
import { CONFIRM_WITHIN_MS } from '../../contract/export-defaults.ts';
import type { NotificationType } from '../../contract/notification.ts';
import type { PinnedFile, SiteSettings, TargetSummary } from '../../contract/settings.ts';
import type { Switches } from '../deployments/deployment-target.ts';
import { notConfigured } from '../not-configured.ts';
import type { ReadSite } from './read-site.ts';

export type SiteSettingsDeps = {
  readSite: ReadSite;
  /** Reads what the operator has set in a values file. */
  readSwitches: (valuesFile: string) => Promise<Switches>;
  minRefreshIntervalMs: number;
  operators: readonly string[];
  /** Whether a mail server is configured. */
  mail: boolean;
  /** The types of events that any target of notifications gets. */
  notify: readonly NotificationType[];
  searchAttributes: boolean;
  /** The public URL of the api; without it, Temporal's UI has no link to the site's page. */
  publicUrl?: string | undefined;
};

/** A hanging file system must not keep a site from its settings. */
const PIN_TIMEOUT_MS = 2_000;

/**
 * Reads a site's settings at each call, so a changed configuration needs no new workflow. Throws `NotConfigured`
 * (not-configured.ts).
 */
export function createReadSiteSettings(deps: SiteSettingsDeps) {
  return async function readSiteSettings({ site }: { site: string }): Promise<SiteSettings> {
    const config = await deps.readSite(site);
    const operators = deps.mail ? [...deps.operators] : [];
    if (config === undefined) throw notConfigured(`the site ${site}`, operators);
    const { timeout, quietPeriod, maxWait, whenBusy, refreshMargin, deployments, tellAfter, guards } = config.export;
    const valuesFiles = deployments.map(deploymentName);
    const targets = deployments.flatMap(summaryOf);
    const confirmations = deployments.flatMap((deployment) => {
      const { statusUrl, confirmWithin, rollback } = deployment;
      if (statusUrl === undefined) return [];
      return [
        {
          valuesFile: deploymentName(deployment),
          withinMs: confirmWithin ?? CONFIRM_WITHIN_MS,
          rollback: rollback === 'auto',
        },
      ];
    });
    const pins = await Promise.all(localValuesFiles(deployments).map(pinOf));
    return {
      domain: config.domain,
      timeoutMs: timeout,
      quietPeriodMs: quietPeriod,
      maxWaitMs: maxWait,
      whenBusy,
      refreshMargin,
      minRefreshIntervalMs: deps.minRefreshIntervalMs,
      valuesFiles,
      targets,
      pins: pins.flat(),
      operators,
      tellAfterMs: tellAfter,
      ...(deps.publicUrl !== undefined && { pageUrl: `${deps.publicUrl}/ui/sites/${site}` }),
      notify: [...deps.notify],
      ...(guards !== undefined && { guards }),
      confirmations,
      searchAttributes: deps.searchAttributes,
    };
  };

  async function pinOf(valuesFile: string): Promise<PinnedFile[]> {
    const asked = deps.readSwitches(valuesFile).then(
      (switches) => [{ valuesFile, ...switches }],
      () => [],
    );
    return await Promise.race([asked, sleep(PIN_TIMEOUT_MS, [], { ref: false })]);
  }
}

/** Nothing for a values file on the worker's own disk: its name says all. */
function summaryOf(deployment: DeploymentConfig): TargetSummary[] {
  const { kind } = targetOf(deployment);
  const { host } = deployment;
  if (kind === 'valuesFile' && host === undefined) return [];
  return [{ name: deploymentName(deployment), kind, ...(host !== undefined && { host }) }];
}
