import { sha256Hex } from '../../base/sha256.ts';
import type { NotifyConfig } from '../../contract/galley-config.ts';
import type { NotificationTarget, NotificationType } from '../../contract/notification.ts';
import { canonicalSecret } from './sign-message.ts';

/** A target of `notify` in galley.yaml. `secrets` is empty for Slack, whose URL is the secret. */
export type ConfiguredTarget = NotificationTarget & {
  kind: 'slack' | 'webhook';
  url: string;
  secrets: readonly string[];
  on: ReadonlySet<NotificationType>;
};

/** Enough to notice a change, too little to find out a URL. */
const HASH_DIGITS = 8;

export function targetsOf(notify: NotifyConfig): ConfiguredTarget[] {
  return notify.map(({ slack, webhook, secret = [], on }, index) => {
    const url = new URL(slack ?? webhook ?? '');
    return {
      number: index + 1,
      host: url.host,
      hash: sha256Hex(url.href).slice(0, HASH_DIGITS),
      kind: slack === undefined ? 'webhook' : 'slack',
      url: url.href,
      secrets: [secret].flat().map(canonicalSecret),
      on: new Set(on),
    };
  });
}

/** The types of events that any target gets. */
export function wantedTypes(targets: readonly ConfiguredTarget[]): NotificationType[] {
  return [...new Set(targets.flatMap(({ on }) => [...on]))];
}
