import type { LeasedUrl, SettledUrl } from '../crawl-records.ts';
import type { Resource } from '../document/types.ts';

type SettledFile = Extract<SettledUrl, { outcome: 'file' }>;

/** A file whose bytes are still to be placed in a segment, with its references as stored text. */
export type UnplacedFile = Omit<SettledFile, 'objectKey' | 'byteOffset' | 'byteLength' | 'extractionLength'> & {
  bytes: Uint8Array;
  extraction: Uint8Array;
};

export type Visited = {
  leased: LeasedUrl;
  result: SettledUrl | UnplacedFile;
  /** What the answer refers to, for the frontier. */
  resources: readonly Resource[];
  /** What was read depends on the page's modules too: an unchanged answer doesn't mean an unchanged page. */
  dependsOnModules?: boolean;
};

export function isUnplaced(result: Visited['result']): result is UnplacedFile {
  return result.outcome === 'file' && 'bytes' in result;
}
