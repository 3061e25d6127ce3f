import { z } from 'zod';

/** A name that people give: printable, as PostgreSQL can keep it. */
export const label = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^\P{C}+$/u, 'expected printable characters');
