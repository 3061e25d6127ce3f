import { z } from 'zod';

/** A list's cursor: the last row's sequence, opaque to clients. */
export const cursor = z
  .string()
  .regex(/^[1-9][0-9]{0,14}$/, 'expected the nextCursor of an earlier answer')
  .transform(Number)
  .optional()
  .meta({ description: 'The `nextCursor` of the page before.' });

/** Rows per page, 1 to 100. */
export const limit = z
  .string()
  .regex(/^(?:[1-9][0-9]?|100)$/, 'expected a whole number from 1 to 100')
  .transform(Number)
  .default(20)
  .meta({ description: 'Rows of a page.' });

/** `limit` as documented; it is parsed from text. */
export const LIMIT_PARAMETER = { type: 'integer', minimum: 1, maximum: 100, default: 20 } as const;

/** The cursor of the next page, given one row more than the page holds; null if there is none. */
export function nextCursor(rows: readonly { sequence: number }[], pageSize: number): string | null {
  const last = rows[pageSize - 1];
  return rows.length > pageSize && last ? String(last.sequence) : null;
}
