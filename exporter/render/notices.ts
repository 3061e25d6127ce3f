/** What the site's owner should know about a page's rendering. */
export type Notices = {
  add(text: string): void;
  /** Each text once, with its count if it occurred more than once. */
  list(): string[];
};

/** Only the first notices of a page are kept. */
const MAX_NOTICES = 20;
const MAX_LENGTH = 400;

export function createNotices(): Notices {
  const counts = new Map<string, number>();
  return {
    add(text) {
      const short = text.replaceAll('\0', '').slice(0, MAX_LENGTH);
      if (counts.has(short) || counts.size < MAX_NOTICES) counts.set(short, (counts.get(short) ?? 0) + 1);
    },
    list: () => [...counts].map(([text, count]) => (count > 1 ? `${text} (${count} times)` : text)),
  };
}
