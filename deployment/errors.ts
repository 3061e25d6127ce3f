import { BundleInvalidError, BundleUnavailableError, reason } from '../bundle/errors.ts';

/**
 * Thrown if the values file can't be read or lacks what it needs; `key` names the place, such as
 * `staticExport.bundleUrl`.
 */
export class ValuesReadError extends Error {
  override readonly name = 'ValuesReadError';
  readonly file: string;
  readonly key: string | null;
  /** There is no file yet, which is normal until the first deploy. */
  readonly isMissing: boolean;

  constructor(file: string, key: string | null, expected: string, { isMissing = false } = {}) {
    super(key === null ? `${file}: ${expected}` : `${file}: ${key}: ${expected}`);
    this.file = file;
    this.key = key;
    this.isMissing = isMissing;
  }
}

/** Thrown if a bundle isn't what `publicKey` and `integrity` require. Another values file may accept the same bytes. */
export class BundleRefusedError extends BundleInvalidError {}

/** Thrown if a valid bundle has another version than `staticExport.version` pins. */
export class VersionPinnedError extends Error {
  override readonly name = 'VersionPinnedError';
  readonly wanted: string;
  readonly found: string;
  /** The bundle names no version: it has none but its archive's hash. */
  readonly isUnnamed: boolean;

  constructor(wanted: string, found: string, isUnnamed = false) {
    const pins = `staticExport.version pins ${JSON.stringify(wanted)}`;
    super(
      isUnnamed
        ? `${pins}, which can't be checked: the bundle at the link has no manifest and names no version (its archive is ${found}). The served version stays; remove the pin, or pin ${found}`
        : `${pins}, but the bundle at the link is ${JSON.stringify(found)}: the served version stays`,
    );
    this.wanted = wanted;
    this.found = found;
    this.isUnnamed = isUnnamed;
  }
}

/** A failed attempt as the status shows it: Galley's own errors unchanged, others without details. */
export function problemMessage(error: unknown): string {
  if (error instanceof BundleInvalidError) return `the bundle was refused: ${error.message}`;
  if (
    error instanceof BundleUnavailableError ||
    error instanceof ValuesReadError ||
    error instanceof VersionPinnedError
  ) {
    return error.message;
  }
  return `the bundle could not be stored (${reason(error)})`;
}
