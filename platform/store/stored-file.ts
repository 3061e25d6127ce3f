/** A file as a crawl has stored it, with the position of its bytes and of its extracted links. Sizes in bytes. */
export type StoredFile = {
  contentType: string;
  isPage: boolean;
  objectKey: string;
  byteOffset: number;
  byteLength: number;
  /** Length of the extracted links right after it; 0 if there are none. */
  extractionLength: number;
  sha256: string;
};

/** The position of the link table of the file's group in the same object; null if there is none. */
export type LinksPlace = { linksOffset: number | null; linksLength: number | null };
