import type { ResourceKind, Site } from './types.ts';

/** The path of the not-found page in every bundle. */
export const NOT_FOUND_PATH = '404.html';

export type PathInput = {
  /** Normalised (`normalizeUrl`). */
  url: string;
  /** As the origin answered; decides `.html` and missing extensions. */
  contentType: string;
  /** The strongest kind under which it was found. A `probe` keeps its exact name: nothing rewrites its mention. */
  kind: ResourceKind;
};

/** The path of a resource in the bundle: pure, the same in every export, always inside the bundle's root. */
export function assignPath(_input: PathInput, _site: Site): string {
  throw new Error('not built yet');
}
