/** How soon asking again makes sense: `soon` with a growing pause, `slowly` where only a new link can help. */
export type RetryPace = 'soon' | 'slowly';

/** Thrown when the values file can't be read or doesn't say what it must; `key` names the place, such as `staticExport.bundleUrl`. */
export class ValuesFileError extends Error {
  override readonly name = 'ValuesFileError';
  readonly file: string;
  readonly key: string | null;

  constructor(file: string, key: string | null, expected: string) {
    super(key === null ? `${file}: ${expected}` : `${file}: ${key}: ${expected}`);
    this.file = file;
    this.key = key;
  }
}

/** Thrown when the bundle can't be had from its link just now; `status` is the HTTP status that refused it, if one did. */
export class BundleUnavailableError extends Error {
  override readonly name = 'BundleUnavailableError';
  readonly pace: RetryPace;
  readonly status: number | null;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, pace: RetryPace, status: number | null = null, retryAfterMs?: number) {
    super(message);
    this.pace = pace;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Thrown when the archive isn't a bundle that may be served: malformed, incomplete, hostile or too large. */
export class BundleInvalidError extends Error {
  override readonly name = 'BundleInvalidError';
}

/** Thrown when a sound bundle has another version than the one `staticExport.version` pins. */
export class VersionPinnedError extends Error {
  override readonly name = 'VersionPinnedError';
  readonly wanted: string;
  readonly found: string;

  constructor(wanted: string, found: string) {
    super(
      `staticExport.version pins ${JSON.stringify(wanted)}, but the bundle at the link is ${JSON.stringify(found)}: the version served stays`,
    );
    this.wanted = wanted;
    this.found = found;
  }
}
