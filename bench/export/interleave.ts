/**
 * Runs every contender once per round and rotates the order, so that the machine's load affects all alike.
 */
export async function interleave<Name extends string, Result>(
  rounds: number,
  contenders: Readonly<Record<Name, () => Promise<Result>>>,
): Promise<Record<Name, Result[]>>;
export async function interleave<Result>(
  rounds: number,
  contenders: Readonly<Record<string, () => Promise<Result>>>,
): Promise<Record<string, Result[]>> {
  const entries = Object.entries(contenders);
  const results: Record<string, Result[]> = Object.fromEntries(entries.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % entries.length;
    for (const [name, run] of [...entries.slice(first), ...entries.slice(0, first)]) results[name]?.push(await run());
  }
  return results;
}
