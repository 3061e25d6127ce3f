const SILENCE_MS = 2_000;

/** Says on standard error what a command waits for, if that takes more than two seconds. */
export async function explainSilence<T>(what: string, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => process.stderr.write(`${what} …\n`), SILENCE_MS);
  return await work.finally(() => clearTimeout(timer));
}
