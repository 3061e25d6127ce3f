import type {
  ActionName,
  DeliveryRecord,
  DeploymentState,
  DeploymentStatus,
  DesiredReason,
  ExportRecord,
  SitePhase,
  UnservedReason,
} from './site-state.ts';
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

/** What a site does, in the order of a publish. */
export const PHASE_WORDS: Record<SitePhase, string> = {
  idle: 'Not published',
  debouncing: 'Collecting',
  exporting: 'Exporting',
  bundling: 'Bundling',
  waiting: 'Waiting for the limit',
  deploying: 'Deploying',
  confirming: 'Confirming',
  live: 'Live',
  locked: 'Locked',
  proposed: 'Pull request open',
  held: 'Held',
  off: 'Off',
  paused: 'Paused',
  review: 'Waiting for review',
  failed: 'Failed',
  unconfigured: 'Not configured',
};

/** A phase that another release sends is shown as it is. */
export function phaseWords(phase: string | undefined): string {
  const words: Readonly<Record<string, string>> = PHASE_WORDS;
  return words[phase ?? ''] ?? phase ?? 'Unknown';
}

const DEPLOYMENT_WORDS: Record<DeploymentStatus, string> = {
  waiting: 'Waiting',
  approval: 'Needs approval',
  writing: 'Being written',
  confirming: 'Not served yet',
  unknown: 'Does not answer',
  live: 'Served',
  proposed: 'Pull request open',
  held: 'Held',
  off: 'Off',
  locked: 'Locked',
  failed: 'Failing',
};

/** What a deployment does. Without a `statusUrl`, nothing says what it serves. */
export function deploymentWords({ state, confirmed }: Pick<DeploymentState, 'state' | 'confirmed'>): string {
  return state === 'live' && confirmed === null ? 'Written' : DEPLOYMENT_WORDS[state];
}

/** How far an export came. */
export const OUTCOME_WORDS: Record<NonNullable<ExportRecord['outcome']>, string> = {
  served: 'Served',
  written: 'Written',
  partly: 'Partly deployed',
  superseded: 'Superseded',
  held: 'Held',
  rejected: 'Rejected',
  failed: 'Failed',
  canceled: 'Canceled',
};

export const DELIVERY_WORDS: Record<DeliveryRecord['outcome'], string> = {
  verified: 'Verified',
  started: 'Accepted',
  coalesced: 'Accepted',
  duplicate: 'Duplicate',
  filtered: 'Filtered',
};

const REJECTION_WORDS: Readonly<Record<string, string>> = {
  'missing-header': 'It has no signature of this source: check the URL and the secret in the sender.',
  'malformed-header': "Its signature doesn't have this source's format.",
  'malformed-body': "Its body isn't what this source sends.",
  'bad-signature': 'It was signed with another secret, or changed on its way.',
  stale: 'It was signed too long ago: a clock is wrong, or it was delayed.',
  future: 'It was signed in the future: a clock is wrong.',
  'status-400': "Its body isn't JSON in UTF-8, or was cut off.",
  'status-413': 'It is larger than this source may send.',
  'status-415': "It is compressed, or isn't JSON: choose JSON in the sender.",
};

/** Why deliveries were rejected. A reason of another release is shown as it is. */
export function rejectionWords(reason: string): string {
  return REJECTION_WORDS[reason] ?? reason;
}

/** By the reply's codes (RFC 5321, RFC 3463), the first that fits. */
const MAIL_WORDS: readonly [codes: RegExp, words: string][] = [
  [/^2/, 'The mail server accepted it.'],
  [/ [45]\.2\.2$/, 'The mailbox is full: its owner must make room.'],
  [/^552 5\.3\.4$|^552$/, 'It is too large for the mail server.'],
  [
    / [45]\.1\.8$| [45]\.7\.\d+$/,
    "The mail server doesn't take mail of this sender: ask its operators to allow smtp.from.",
  ],
  [/ [45]\.1\.\d+$|^55[013]$/, 'There is no such mailbox: correct the address of the reviewer.'],
  [/^4/, "The mail server didn't take it for now."],
  [/^5/, 'The mail server refused it: show its operators this reply.'],
];

/** What a mail's detail means, with the codes of the server's reply: they are what its operators ask for. */
export function mailWords(detail: string): string {
  const [, code, enhanced] = /(?:^|: )([245]\d\d)[ -](?:([245]\.\d{1,3}\.\d{1,3})\b)?/.exec(detail) ?? [];
  const codes = [code, enhanced].filter((each) => each !== undefined).join(' ');
  const words = MAIL_WORDS.find(([fitting]) => fitting.test(codes))?.[1];
  return words === undefined ? detail : `${words} (${codes})`;
}

export const TRIGGER_WORDS: Record<ExportRecord['trigger'], string> = {
  publish: 'publish',
  request: 'operator',
  'lost-bundle': 'lost bundle',
};

/** What operators do. */
export const ACTION_WORDS: Record<ActionName, string> = {
  export: 'Export',
  refresh: 'Refresh link',
  pause: 'Pause',
  resume: 'Resume',
  rollback: 'Roll back',
  lock: 'Lock',
  unlock: 'Unlock',
  rename: 'Rename',
  approve: 'Approve',
  reject: 'Reject',
  remove: 'Remove',
  'run-again': 'Run again',
};

/** What became of an export. */
export function outcomeWords({ outcome, rolledBackAt }: Pick<ExportRecord, 'outcome' | 'rolledBackAt'>): string {
  return [outcome ?? 'under way', rolledBackAt !== null && 'rolled back'].filter(Boolean).join(', ');
}

/** Such as "number 3 of 7, about 14:20" (UTC). */
export function startPlaceText({ number, of, aboutAt }: StartPlace): string {
  return `number ${number} of ${of}${aboutAt === null ? '' : `, about ${aboutAt.slice(11, 16)} UTC`}`;
}
