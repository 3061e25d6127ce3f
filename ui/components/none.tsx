/** Replaces a missing value by a dash or a word. On narrow screens, a dash in a table is left out. */
export function None({ children = '–' }: { children?: string }) {
  return <span class={children === '–' ? 'soft none' : 'soft'}>{children}</span>;
}
