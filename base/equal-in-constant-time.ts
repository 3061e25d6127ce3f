import { hash, timingSafeEqual } from 'node:crypto';

/** Compares two texts in a time that depends neither on their content nor on their lengths. */
export function equalInConstantTime(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

/** `timingSafeEqual` needs inputs of equal length, and all digests have the same length. */
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
