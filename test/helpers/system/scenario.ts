import type { Programs } from './programs.ts';

/** `it`, and where the test fails the last lines of every program stand beside the reason. */
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
