/** The failure type of an export that no retry helps; the message is for the job's owner. */
export const EXPORT_IMPOSSIBLE = 'ExportImpossible';
