import type { ComponentChildren } from 'preact';

/** In place of a list without entries: what would be here, and how to get it. */
export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
