/** Presentation attributes of SVG that may name another file's paint, filter or pointer, as CSS does. */
export const PAINTS: ReadonlySet<string> = new Set([
  ...['fill', 'stroke', 'filter', 'mask', 'clip-path', 'cursor'],
  ...['marker-start', 'marker-mid', 'marker-end'],
]);
