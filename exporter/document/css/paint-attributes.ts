/** SVG presentation attributes that may refer to a paint, filter or cursor in another file, as CSS does. */
export const PAINTS: ReadonlySet<string> = new Set([
  ...['fill', 'stroke', 'filter', 'mask', 'clip-path', 'cursor'],
  ...['marker-start', 'marker-mid', 'marker-end'],
]);
