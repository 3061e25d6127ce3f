import type { Programs } from './programs.ts';

/** A test on a running system may take this long on a busy machine; each step has its own bound. */
const SCENARIO_TIMEOUT_MS = 240_000;

/** `it`, and where the test fails the last lines of every program stand beside the reason. */
export function scenarios(running: () => { programs: Programs } | undefined) {
  return (name: string, body: () => Promise<void>): void => {
    it(
      name,
      async () => {
        try {
          await body();
        } catch (error) {
          process.stderr.write(`\n=== ${name}\n${running()?.programs.lastWords() ?? ''}\n`);
          throw error;
        }
      },
      SCENARIO_TIMEOUT_MS,
    );
  };
}
