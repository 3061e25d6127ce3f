import type { ComponentChildren } from 'preact';

/**
 * A part of a page that the server replaces by server-sent events: each unnamed event holds its new content. Unchanged
 * elements, the focus and open details stay. Without scripts, it shows the state at the page's load.
 */
export function Live({ id, url, children }: { id: string; url: string; children: ComponentChildren }) {
  // As a spread, because JSX knows no attribute with a hyphen and a colon.
  const connect = { 'hx-sse:connect': url };
  return (
    <div id={id} hx-swap="innerMorph" {...connect}>
      {children}
    </div>
  );
}

/** Says that the page updates by itself, while live updates arrive. Not "Live", which is a phase of sites. */
export function LiveIndicator() {
  return <span class="live" />;
}
