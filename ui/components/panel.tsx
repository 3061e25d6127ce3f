import type { ComponentChildren } from 'preact';

type PanelProps = {
  title?: ComponentChildren;
  /** The content at the end of the title's line: a count, or a link to more. */
  aside?: ComponentChildren;
  id?: string;
  children: ComponentChildren;
};

/** A part of a page. A table in it fills it. */
export function Panel({ title, aside, id, children }: PanelProps) {
  return (
    <section class="panel" id={id}>
      {title !== undefined && (
        <div class="panel-head">
          <h2>{title}</h2>
          {aside}
        </div>
      )}
      {children}
    </section>
  );
}
