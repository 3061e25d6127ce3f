import type { z } from 'zod';
import { HttpError } from '../web/http-error.ts';

/** The most problems in a message: it mustn't grow with the request. */
const MAX_ISSUES = 5;

/** Parses input by its schema. Throws an `HttpError` 400 that names each wrong field and what was expected. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    const field = path.map((part) => String(part).slice(0, 60)).join('.');
    return field === '' ? message : `${field}: ${message}`;
  });
  throw new HttpError(400, issues.join('; ').slice(0, 1000));
}
