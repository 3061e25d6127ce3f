import type { ComponentChildren } from 'preact';

type Definition = { term: string; value: ComponentChildren };

export function DefinitionList({ items }: { items: readonly Definition[] }) {
  return (
    <dl class="definitions">
      {items.map(({ term, value }) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
