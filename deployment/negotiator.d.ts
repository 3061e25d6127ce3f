/** Of the package, what we use: its published types don't know `preferred`. */
declare module 'negotiator' {
  export default class Negotiator {
    constructor(request: { headers: Readonly<Record<string, string | readonly string[] | undefined>> });
    /** Those of `available` that are acceptable, best first; `preferred` decides where the request likes some the same. */
    encodings(available: readonly string[], options: { preferred: readonly string[] }): string[];
  }
}
