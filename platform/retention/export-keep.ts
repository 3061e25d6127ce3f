/** `EXPORT_KEEP`: an export is kept while either applies. */
export type ExportKeep = {
  /** It is among this many newest completed exports of its project. */
  newest: number;
  /** A link to its bundle was requested within this time. */
  linkedWithinMs: number;
};
