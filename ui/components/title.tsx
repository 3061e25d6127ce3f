import type { ComponentChildren } from 'preact';

type TitleProps = {
  title: ComponentChildren;
  /** The content beside the title: the state of what the page shows. */
  beside?: ComponentChildren;
  below?: ComponentChildren;
  /** What can be done on the page. */
  children?: ComponentChildren;
};

/** The heading of a page. */
export function Title({ title, beside, below, children }: TitleProps) {
  return (
    <div class="title">
      <div>
        <div class="title-line">
          <h1>{title}</h1>
          {beside}
        </div>
        {below}
      </div>
      {children}
    </div>
  );
}
