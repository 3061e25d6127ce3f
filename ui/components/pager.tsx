type PagerProps = {
  /** Undefined: this is the first page. */
  firstHref?: string | undefined;
  /** Undefined: this is the last page. */
  nextHref?: string | undefined;
  /** What the page shows, such as `Sites 1 to 50 of 10,000`. */
  summary: string;
};

/** Pages by cursor: back to the first one, or on to the next. */
export function Pager({ firstHref, nextHref, summary }: PagerProps) {
  return (
    <nav class="pager" aria-label="Pages">
      <span class="soft">{summary}</span>
      <span class="actions">
        {firstHref !== undefined && (
          <a class="button" data-variant="plain" href={firstHref}>
            First page
          </a>
        )}
        {nextHref !== undefined && (
          <a class="button" data-variant="plain" href={nextHref} rel="next">
            Next page
          </a>
        )}
      </span>
    </nav>
  );
}
