import type { LeasedUrl, SettledUrl } from '../../../store/frontier.ts';
import type { Resource } from '../page/types.ts';

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
};

export function isUnplaced(result: Visited['result']): result is UnplacedFile {
  return result.outcome === 'file' && 'bytes' in result;
}
