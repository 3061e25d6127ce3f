/** What happened while a browser showed a page that its owner should know of. */
export type Notices = {
  add(text: string): void;
  /** Each text once, with how often it came where that was more than once. */
  list(): string[];
};

/** A page that does a thing in many ways is told of by the first few. */
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
