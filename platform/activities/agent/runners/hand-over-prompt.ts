/** The word that the prompt replaces. */
const PROMPT_WORD = '{prompt}';

/** Linux rejects longer arguments: MAX_ARG_STRLEN, including the final zero. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;

type HandedOver = { words: readonly string[]; stdin: Uint8Array } | { error: string };

/**
 * Passes the prompt as the command line wants it: as one argument in place of `{prompt}`, otherwise on standard input.
 * It is never parsed.
 */
export function handOverPrompt(words: readonly string[], prompt: string): HandedOver {
  const bytes = new TextEncoder().encode(prompt);
  if (!words.includes(PROMPT_WORD)) return { words, stdin: bytes };
  if (prompt.includes('\0')) {
    return { error: 'The prompt holds a NUL character, which no argument of a command can hold.' };
  }
  if (bytes.length > MAX_ARGUMENT_BYTES) {
    return {
      error: `The prompt has ${bytes.length} bytes; an argument of a command holds at most ${MAX_ARGUMENT_BYTES}.`,
    };
  }
  return { words: words.map((word) => (word === PROMPT_WORD ? prompt : word)), stdin: new Uint8Array() };
}
