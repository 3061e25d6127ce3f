import type { ComponentChildren } from 'preact';

export type Column<Row> = {
  /** The heading. On narrow screens, it is beside each cell. */
  label: string;
  cell: (row: Row) => ComponentChildren;
  /** `number`: right-aligned; `main`: the row's name; `actions`: the heading is for screen readers only. */
  kind?: 'number' | 'main' | 'actions';
};

type TableProps<Row> = {
  /** What the table lists, for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Unique and stable, so that live updates move rows instead of rewriting them. */
  keyOf: (row: Row) => string;
  /** Columns of equal widths, so that several tables of one page have the same. */
  fixed?: boolean;
};

/** On narrow screens, each row becomes a card. Show an EmptyState instead if there are no rows. */
export function Table<Row>({ caption, columns, rows, keyOf, fixed = false }: TableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
    <div class="table-box" tabIndex={0}>
      <table class={fixed ? 'table fixed' : 'table'}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ label, kind }) => (
              <th key={label} scope="col" data-kind={kind}>
                {kind === 'actions' ? <span class="visually-hidden">{label}</span> : label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ label, kind, cell }) => (
                <td key={label} data-label={label} data-kind={kind}>
                  {/* One box, because on narrow screens the cell is a grid with its heading. */}
                  <div>{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
