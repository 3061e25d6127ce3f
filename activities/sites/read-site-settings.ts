import { setTimeout as sleep } from 'node:timers/promises';
import type { SiteConfig } from '../../contract/galley-config.ts';
import type { PinnedFile } from '../deployments/activities.ts';

/** What the workflow of a site needs of its configuration. No secrets: this enters the history. */
export type SiteSettings = {
  domain: string;
  timeoutMs: number;
  quietPeriodMs: number;
  maxWaitMs: number;
  whenBusy: 'queue' | 'cancel';
  /** Share of the link's lifetime, before its end, at which it is refreshed. */
  refreshMargin: number;
  minRefreshIntervalMs: number;
  valuesFiles: string[];
  /** The operators' pins as they stand now. A file that can't be read isn't listed; earlier releases told none. */
  pins?: PinnedFile[];
  /** Who is told by mail of trouble that lasts; nobody without a mail server. Earlier releases told none. */
  operators?: string[];
  /** How long trouble has to last before they are told. */
  tellAfterMs?: number;
  /** Whether the search attributes of contract/names.ts are usable here. */
  searchAttributes: boolean;
  /** The worker's build: a run made by another one continues as new, so that it doesn't carry old branches along. */
  build: string;
};

export type SiteSettingsDeps = {
  /** The site's section of the current configuration; undefined where the site was removed. */
  readSite: (site: string) => SiteConfig | undefined | Promise<SiteConfig | undefined>;
  /** A values file's pin, null without one. */
  readPin: (valuesFile: string) => Promise<string | null>;
  minRefreshIntervalMs: number;
  operators: readonly string[];
  /** Whether a mail server is configured. */
  mail: boolean;
  searchAttributes: boolean;
  build: string;
};

/** A file system that hangs mustn't keep a site from its settings. */
const PIN_PATIENCE_MS = 2_000;

/** Reads a site's settings anew, so that a change needs no new workflow. Null where the site is no longer configured. */
export function createReadSiteSettings(deps: SiteSettingsDeps) {
  return async function readSiteSettings(input: { site: string }): Promise<SiteSettings | null> {
    const config = await deps.readSite(input.site);
    if (config === undefined) return null;
    const { timeout, quietPeriod, maxWait, whenBusy, refreshMargin, deployments, tellAfter } = config.export;
    const valuesFiles = deployments.map((deployment) => deployment.valuesFile);
    const pins = await Promise.all(valuesFiles.map(pinOf));
    return {
      domain: config.domain,
      timeoutMs: timeout,
      quietPeriodMs: quietPeriod,
      maxWaitMs: maxWait,
      whenBusy,
      refreshMargin,
      minRefreshIntervalMs: deps.minRefreshIntervalMs,
      valuesFiles,
      pins: pins.flat(),
      operators: deps.mail ? [...deps.operators] : [],
      tellAfterMs: tellAfter,
      searchAttributes: deps.searchAttributes,
      build: deps.build,
    };
  };

  async function pinOf(valuesFile: string): Promise<PinnedFile[]> {
    const asked = deps.readPin(valuesFile).then(
      (pin) => [{ valuesFile, pin }],
      () => [],
    );
    return await Promise.race([asked, sleep(PIN_PATIENCE_MS, [], { ref: false })]);
  }
}
