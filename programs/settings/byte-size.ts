import { z } from 'zod';

const UNIT_BYTES = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 } as const;
type Unit = keyof typeof UNIT_BYTES;

function isUnit(text: string | undefined): text is Unit {
  return text !== undefined && text in UNIT_BYTES;
}

/** A size such as `512KiB`, `10MiB` or `2GiB`, or a number of bytes; parsed to bytes, at least one. */
export const byteSize = z
  .string()
  .transform((text) => {
    const [, amount, unit = 'B'] = /^(\d+)(B|KiB|MiB|GiB|TiB)?$/.exec(text) ?? [];
    return isUnit(unit) ? Number(amount) * UNIT_BYTES[unit] : Number.NaN;
  })
  .refine(
    (bytes) => Number.isSafeInteger(bytes) && bytes > 0,
    'expected a size such as 512KiB, 10MiB or 2GiB, or a number of bytes',
  );
