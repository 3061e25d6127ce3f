/** The part of the package that is used. It has no types of its own. */
declare module 'mime-types' {
  /** The type of a file by its extension; false if unknown. */
  export function lookup(path: string): string | false;
}
