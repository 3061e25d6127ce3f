import type { LeasedUrl, SettledUrl } from '../crawl-records.ts';
import type { Resource } from '../document/types.ts';

type SettledFile = Extract<SettledUrl, { outcome: 'file' }>;

/** A file whose bytes aren't in a segment yet, with its references as stored text. */
export type UnplacedFile = Omit<SettledFile, 'objectKey' | 'byteOffset' | 'byteLength' | 'extractionLength'> & {
  bytes: Uint8Array;
  extraction: Uint8Array;
};

export type Visited = {
  leased: LeasedUrl;
  result: SettledUrl | UnplacedFile;
  /** The references in the response, for the frontier. */
  resources: readonly Resource[];
  /** The result also depends on the page's modules, so an unchanged response doesn't mean an unchanged page. */
  dependsOnModules?: boolean;
};

export function isUnplaced(result: Visited['result']): result is UnplacedFile {
  return result.outcome === 'file' && 'bytes' in result;
}
