import type { ComponentChildren } from 'preact';

type Definition = {
  term: string;
  value: ComponentChildren;
  /** A row of its own, for what must stay whole, such as a URL. */
  wide?: boolean;
};

export function DefinitionList({ items }: { items: readonly Definition[] }) {
  return (
    <dl class="definitions">
      {items.map(({ term, value, wide }) => (
        <div key={term} class={wide ? 'wide' : undefined}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
