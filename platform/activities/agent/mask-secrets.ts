/** Below this, a value is more likely a word of its own than a secret, and masking it would only spoil the text. */
const LEAST_CHARACTERS = 4;

const MASK = '***';

/** Masks secrets in a text that comes in pieces, also where a piece's border goes through one. */
export type SecretMask = {
  /** What can be told so far: the end of a piece waits where it may be the beginning of a secret. */
  push(chunk: Uint8Array): Buffer;
  /** The rest. */
  end(): Buffer;
};

/** Masks each of `secrets` in a whole text. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const mask = createSecretMask(secrets);
  return Buffer.concat([mask.push(Buffer.from(text)), mask.end()]).toString();
}

/**
 * Works on bytes, so what isn't UTF-8 passes unchanged. Of a secret of several lines, such as a private key, each line
 * counts; a secret is masked in its percent-encoded form too, as it stands in addresses.
 */
export function createSecretMask(secrets: readonly string[]): SecretMask {
  const needles = needlesOf(secrets);
  const pattern = needles.length === 0 ? null : new RegExp(needles.map(literally).join('|'), 'g');
  const longest = Math.max(0, ...needles.map((needle) => needle.length));
  let rest = '';

  /** Where the first unfinished secret at the text's end may begin; the text's end where none does. */
  function firstUnfinished(text: string, from: number): number {
    for (let start = Math.max(from, text.length - longest + 1); start < text.length; start += 1) {
      const suffix = text.slice(start);
      if (needles.some((needle) => needle.length > suffix.length && needle.startsWith(suffix))) return start;
    }
    return text.length;
  }

  function take(text: string, ended: boolean): { told: string; rest: string } {
    let told = '';
    let from = 0;
    let unfinished = ended ? text.length : firstUnfinished(text, from);
    while (true) {
      // Looked for anew only behind it: an agent that prints nothing but secrets must not hold up the worker.
      if (from > unfinished) unfinished = firstUnfinished(text, from);
      const match = nextMatch(text, from);
      // A secret that begins where a longer one may begin waits for it.
      if (match === null || unfinished <= match.index) {
        return { told: told + text.slice(from, unfinished), rest: text.slice(unfinished) };
      }
      told += text.slice(from, match.index) + MASK;
      from = match.index + match[0].length;
    }
  }

  function nextMatch(text: string, from: number): RegExpExecArray | null {
    if (pattern === null) return null;
    pattern.lastIndex = from;
    return pattern.exec(text);
  }

  return {
    push(chunk) {
      const taken = take(rest + Buffer.from(chunk).toString('latin1'), false);
      rest = taken.rest;
      return Buffer.from(taken.told, 'latin1');
    },
    end() {
      const { told } = take(rest, true);
      rest = '';
      return Buffer.from(told, 'latin1');
    },
  };
}

/** As byte strings, the longest first, so that of two that begin alike the longer one is masked whole. */
function needlesOf(secrets: readonly string[]): string[] {
  const lines = secrets.flatMap((secret) => secret.split(/\r?\n/)).map((line) => line.trim());
  const forms = lines.flatMap((line) => [line, percentEncoded(line)]);
  const long = forms.filter((form) => form.length >= LEAST_CHARACTERS);
  const bytes = long.map((form) => Buffer.from(form).toString('latin1'));
  return [...new Set(bytes)].sort((a, b) => b.length - a.length);
}

function percentEncoded(text: string): string {
  // Half of a character has no encoded form.
  return encodeURIComponent(Buffer.from(text).toString());
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
