import { decodePath } from '../../../bundle/url.ts';
import type { BundleFile } from '../../../contract/bundle.ts';

/** A file that had another URL at the origin than its path suggests. */
export type MovedFile = {
  file: BundleFile;
  /** The URL's path in plain text, without its first slash. */
  name: string;
  /** The URL's query, encoded, with its question mark; often empty. */
  search: string;
  /** The URL as the manifest has it. */
  url: string;
};

/** The files that a static host, which finds `guides/start.html` for `/guides/start`, doesn't find by their URL. */
export function movedFiles(files: readonly BundleFile[]): MovedFile[] {
  const paths = new Set(files.map(({ path }) => path));
  return originalUrls(files).filter(
    ({ file: { path }, name, search }) => search !== '' || !isFoundByName(path, name, paths),
  );
}

/** All files whose URL at the origin the manifest names. */
export function originalUrls(files: readonly BundleFile[]): MovedFile[] {
  return files.flatMap((file) => {
    const { url, encoding } = file;
    if (url === undefined || encoding !== undefined) return [];
    const mark = url.indexOf('?');
    const [path, search] = mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark)];
    return [{ file, url, search, name: decodePath(path).slice(1) }];
  });
}

function isFoundByName(path: string, name: string, paths: ReadonlySet<string>): boolean {
  if (name === '' || name.endsWith('/')) return path === `${name}index.html`;
  // Not every host looks for a page under a name with an extension.
  return path === `${name}.html` && !paths.has(name) && !/\.[^/]*$/.test(name);
}
