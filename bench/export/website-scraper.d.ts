/** Types for the options that the bench uses: the package has none. */
declare module 'website-scraper' {
  export default function scrape(options: {
    urls: readonly string[];
    /** Must not exist. */
    directory: string;
    recursive: boolean;
    requestConcurrency: number;
    urlFilter(url: string): boolean;
  }): Promise<unknown>;
}
