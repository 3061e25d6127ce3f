/** A shorter value is more likely an ordinary word than a secret. */
const LEAST_CHARACTERS = 4;

const MASK = '***';

/** Masks secrets in a text that arrives in pieces, including secrets that span pieces. */
type SecretMask = {
  /** The text that is safe to output so far. The end of a piece is held back if a secret may begin there. */
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
 * Works on bytes, so text that isn't UTF-8 passes unchanged. Each line of a multi-line secret, such as a private key,
 * is masked, and so is its percent-encoded form, as in URLs.
 */
export function createSecretMask(secrets: readonly string[]): SecretMask {
  const needles = needlesOf(secrets);
  const pattern = needles.length === 0 ? null : new RegExp(needles.map(literally).join('|'), 'g');
  const longest = Math.max(0, ...needles.map((needle) => needle.length));
  let rest = '';

  /** Says where the first unfinished secret at the text's end may begin; the text's end if there is none. */
  function firstUnfinished(text: string, from: number): number {
    for (let start = Math.max(from, text.length - longest + 1); start < text.length; start += 1) {
      const suffix = text.slice(start);
      if (needles.some((needle) => needle.length > suffix.length && needle.startsWith(suffix))) return start;
    }
    return text.length;
  }

  function take(text: string, ended: boolean): { masked: string; rest: string } {
    let masked = '';
    let from = 0;
    let unfinished = ended ? text.length : firstUnfinished(text, from);
    while (true) {
      // Continue the search after the match: output that consists of secrets must not block the worker.
      if (from > unfinished) unfinished = firstUnfinished(text, from);
      const match = nextMatch(text, from);
      // Hold a secret back if a longer one may begin at the same place.
      if (match === null || unfinished <= match.index) {
        return { masked: masked + text.slice(from, unfinished), rest: text.slice(unfinished) };
      }
      masked += text.slice(from, match.index) + MASK;
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
      return Buffer.from(taken.masked, 'latin1');
    },
    end() {
      const { masked } = take(rest, true);
      rest = '';
      return Buffer.from(masked, 'latin1');
    },
  };
}

/** The secrets as byte strings, longest first, so that one that begins with another is masked whole. */
function needlesOf(secrets: readonly string[]): string[] {
  const lines = secrets.flatMap((secret) => secret.split(/\r?\n/)).map((line) => line.trim());
  const forms = lines.flatMap((line) => [line, percentEncoded(line)]);
  const long = forms.filter((form) => form.length >= LEAST_CHARACTERS);
  const bytes = long.map((form) => Buffer.from(form).toString('latin1'));
  return [...new Set(bytes)].sort((a, b) => b.length - a.length);
}

function percentEncoded(text: string): string {
  // A lone surrogate can't be percent-encoded.
  return encodeURIComponent(Buffer.from(text).toString());
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
