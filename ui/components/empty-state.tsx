import type { ComponentChildren } from 'preact';

/** Replaces a list without entries: says what would be here, and how to get it. */
export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
