import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';

// What a thread of `screenChange` can do.

type Screened = {
  path: string;
  now: string;
  /** The file before the change: what it had isn't the change's. */
  before: string;
  /** Values that no change may contain. */
  secrets: readonly string[];
};

/** Where a secret is, from line 1, and of what kind. Never the secret. */
export type FoundSecret = { line: number; kind: string };

/** Addresses such as `https://user:password@host` are examples in most manuals. */
const NOT_KEYS = /-rule-(?:basicauth|database-connection-string)$/;

export function begin(): void {}

/** The first key or token that the change adds to the file, by the patterns of secretlint, or one of `secrets`. */
export async function findSecret({ path, now, before, secrets }: Screened): Promise<FoundSecret | null> {
  const own = secrets.find((secret) => now.includes(secret) && !before.includes(secret));
  if (own !== undefined) return { line: lineAt(now, now.indexOf(own)), kind: "one of the operator's secrets" };
  const { messages } = await lintSource({
    source: { content: now, filePath: path, ext: '', contentType: 'text' },
    options: {
      config: { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator }] },
      maskSecrets: true,
    },
  });
  const found = messages.find(
    ({ ruleId, range: [from, to] }) => !NOT_KEYS.test(ruleId) && !before.includes(now.slice(from, to)),
  );
  if (found === undefined) return null;
  const [, kind = 'a secret'] = /^found (?:an? )?([\w ]+)/i.exec(found.message) ?? [];
  return { line: lineAt(now, found.range[0]), kind: kind.trim() };
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
