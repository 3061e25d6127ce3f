/** Types for what is used: the package's own don't have `preferred`. */
declare module 'negotiator' {
  export default class Negotiator {
    constructor(request: { headers: Readonly<Record<string, string | readonly string[] | undefined>> });
    /** The acceptable ones of `available`, best first. */
    mediaTypes(available: readonly string[]): string[];
    /** The acceptable ones of `available`, best first; `preferred` decides between equal ones. */
    encodings(available: readonly string[], options: { preferred: readonly string[] }): string[];
  }
}
