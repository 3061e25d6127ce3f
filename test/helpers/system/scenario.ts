import type { Programs } from './programs.ts';

/** Like `it`. If the test fails, it also prints the last output lines of every program. */
export function scenarios(running: () => { programs: Programs } | undefined) {
  return (name: string, body: () => Promise<void>): void => {
    it(name, async () => {
      try {
        await body();
      } catch (error) {
        process.stderr.write(`\n=== ${name}\n${running()?.programs.lastWords() ?? ''}\n`);
        throw error;
      }
    });
  };
}
