import type { DesiredReason, ExportRecord, UnservedReason } from './site-state.ts';
import type { StartPlace } from './start-gate.ts';

/** How pages and commands say what the words of a site's state mean. */

/** Why the oldest publish isn't served everywhere. */
export const UNSERVED_WORDS: Record<UnservedReason, string> = {
  debouncing: 'more publishes may follow',
  exporting: 'it is being exported',
  review: 'a guard holds it for approve or reject',
  waiting: 'its export or its wave has to wait',
  approval: 'a deployment waits for approval',
  deploying: 'it is being written',
  confirming: 'a deployment does not report it yet',
  unknown: 'a deployment does not say what it serves',
  failed: 'the export or a deployment fails',
  locked: 'the site is locked',
  paused: 'the site is paused',
  unconfigured: 'no worker has the site in its galley.yaml',
};

/** Why a deployment should have its version. */
export const DESIRED_WORDS: Record<DesiredReason, string> = {
  newest: 'the newest',
  pinned: 'pinned',
  locked: 'kept by the lock',
  'rolled-back': 'kept by a rollback',
  withheld: 'the newer one was not served',
  rejected: 'the newer one was rejected',
  'waits-for-wave': 'waits for an earlier wave',
  'waits-for-approval': 'waits for approval',
  nothing: 'nothing to deploy yet',
};

/** What became of an export. */
export function outcomeWords({ outcome, rolledBackAt }: Pick<ExportRecord, 'outcome' | 'rolledBackAt'>): string {
  return [outcome ?? 'under way', rolledBackAt !== null && 'rolled back'].filter(Boolean).join(', ');
}

/** Such as "number 3 of 7, about 14:20" (UTC). */
export function startPlaceText({ number, of, aboutAt }: StartPlace): string {
  return `number ${number} of ${of}${aboutAt === null ? '' : `, about ${aboutAt.slice(11, 16)} UTC`}`;
}
