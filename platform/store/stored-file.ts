/** A file as a crawl has stored it: what it is, and where its bytes and what was read in them lie. Sizes in bytes. */
export type StoredFile = {
  contentType: string;
  isPage: boolean;
  objectKey: string;
  byteOffset: number;
  byteLength: number;
  /** What was read in it lies behind it; 0 where there is nothing. */
  extractionLength: number;
  sha256: string;
};

/** Where the table of links of the file's group lies in the same object; null where it has none. */
export type LinksPlace = { linksOffset: number | null; linksLength: number | null };
