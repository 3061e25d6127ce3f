import { visibleText } from '../visible-text.ts';

/** A text that others wrote: its direction ends with it, and hidden characters are shown. */
export function Text({ children }: { children: string }) {
  return <bdi>{visibleText(children)}</bdi>;
}

/** The same over several lines, as it was written. */
export function LongText({ children }: { children: string }) {
  return (
    <p class="long-text" dir="auto">
      {visibleText(children, { multiline: true })}
    </p>
  );
}
