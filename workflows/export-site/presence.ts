import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import type { SiteState } from '../../contract/site-state.ts';
import { asText } from '../presence/as-text.ts';
import { createPresence } from '../presence/presence.ts';
import { siteStateOf } from './phase.ts';
import { nextRefreshAtMs } from './refresh-due.ts';
import type { SiteRun } from './site-run.ts';

/** Keeps what the Temporal UI shows of the site in step with its state: the details, and the search attributes. */
export async function showPresence(run: SiteRun): Promise<void> {
  await createPresence({ details: () => describe(run), attributes: () => attributesOf(run) }).show();
}

export function stateOf(run: SiteRun): SiteState {
  // What is overdue is due now: the moment it became so may never have been a time.
  return siteStateOf(run.site, run.memory, Math.max(nextRefreshAtMs(run), Date.now()));
}

function attributesOf(run: SiteRun): SearchAttributeUpdatePair[] | null {
  if (!run.settings.searchAttributes) return null;
  const { site, phase, version, linkExpiresAt } = stateOf(run);
  const { site: siteName, phase: phaseName, version: versionName, linkExpiresAt: expiryName } = SEARCH_ATTRIBUTES;
  return [
    { key: { name: siteName, type: 'KEYWORD' }, value: site },
    { key: { name: phaseName, type: 'KEYWORD' }, value: phase },
    { key: { name: versionName, type: 'KEYWORD' }, value: version },
    { key: { name: expiryName, type: 'DATETIME' }, value: linkExpiresAt === null ? null : new Date(linkExpiresAt) },
  ];
}

/** The site's story in Markdown, as the Temporal UI shows it beside the run. */
function describe(run: SiteRun): string {
  const state = stateOf(run);
  const { pending, backOff, exporting, live, targets } = run.memory;
  const lines = [
    `**${run.settings.domain}**: ${state.phase}${live?.rolledBack ? ' (rolled back; held until the next publish)' : ''}`,
    live && `serves ${asText(live.version ?? live.jobId)}, exported ${live.exportedAt}`,
    state.withheld &&
      `withholds the newer ${asText(state.withheld.version ?? 'export')}, exported ${state.withheld.exportedAt}`,
    state.linkExpiresAt && `link ends ${state.linkExpiresAt}, next refresh ${state.nextRefreshAt ?? 'unknown'}`,
    exporting && `export ${exporting.jobId ?? ''} of ${exporting.publishes.count} publish(es): ${exporting.stage}`,
    pending &&
      `${pending.count} publish(es) wait${pending.newest ? `, the newest: ${asText(pending.newest.title)}` : ''}`,
    backOff && `next try of the export ${new Date(backOff.untilMs).toISOString()}`,
    ...targets.map((target) => target.off && `${target.valuesFile} is off: its operator set enabled to false`),
    ...targets.map((target) => target.held && `${target.valuesFile} is held at ${target.pin ?? 'its version'}`),
    state.lastError && `last error (${state.lastError.at}): ${asText(state.lastError.message)}`,
  ];
  return lines.filter((line) => typeof line === 'string').join('\n\n');
}
