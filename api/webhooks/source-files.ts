import { readdirSync } from 'node:fs';

const folder = new URL('../sources/', import.meta.url);

/** `name.ts`, or `name.js` once compiled; not the `name.d.ts` beside it. */
const CODE_FILE = /(?<!\.d)\.(?:ts|js)$/;
const SOURCE_FILE = /^([a-z][a-z\d]*)\.(?:ts|js)$/;

/**
 * The URLs of the sources' files by the sources' names, in alphabetical order, without loading them. A file in
 * api/sources/ is a source, so a new one needs no entry anywhere.
 */
export function sourceFiles(): ReadonlyMap<string, string> {
  return new Map(
    readdirSync(folder)
      .sort()
      .flatMap((file) => {
        if (!CODE_FILE.test(file)) return [];
        const name = SOURCE_FILE.exec(file)?.[1];
        if (name === undefined) {
          throw new Error(
            `api/sources/${file}: expected a name of lower-case letters and digits, as it becomes part of a URL`,
          );
        }
        return [[name, new URL(file, folder).href]];
      }),
  );
}
