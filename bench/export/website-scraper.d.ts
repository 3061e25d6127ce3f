/** Of the package's options, those that we use: it has no types of its own. */
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
