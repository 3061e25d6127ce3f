/** Thrown if an archive isn't a valid bundle: malformed, incomplete, hostile or too large. */
export class BundleInvalidError extends Error {
  override readonly name = 'BundleInvalidError';
}

/** A hostile name in an error message: short and without control characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
}
