import { z } from 'zod';
import { commonSettings } from '../../contract/webhook-settings.ts';

/** Settings that several sources share. */

export const headerName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'expected the name of a header');

/**
 * A delivery publishes only if each named field of its body (a path with dots) has one of the values. For senders that
 * choose the shape of their bodies themselves.
 */
export const filters = z.record(
  z.string().min(1),
  z.union([z.string(), z.array(z.string()).min(1)], { error: 'expected a value (text) or a list of values' }),
);
export type Filters = Readonly<Record<string, string | readonly string[]>>;

/** Settings of a source that needs no more than what all sources have. */
export const plainSettings = z.strictObject(commonSettings);
