import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

export type MessageKind = 'info' | 'success' | 'warning' | 'error';

const ICONS: Record<MessageKind, IconName> = { info: 'info', success: 'check', warning: 'alert', error: 'alert' };

/** What happened, and what to do next. Errors interrupt a screen reader; others wait. */
export function Message({ kind, children }: { kind: MessageKind; children: ComponentChildren }) {
  return (
    <div class="message" data-kind={kind} role={kind === 'error' ? 'alert' : 'status'}>
      <Icon name={ICONS[kind]} />
      <div>{children}</div>
    </div>
  );
}
