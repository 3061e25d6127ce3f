import { LESS_COLLECTING } from './less-collecting.ts';

/** Only what a shell would have, so that the tester's own variables change nothing, and these. */
export function shellEnvironment(variables: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { PATH, HOME, XDG_CACHE_HOME, TMPDIR } = process.env;
  const kept = Object.entries({ PATH, HOME, XDG_CACHE_HOME, TMPDIR }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(kept), ...LESS_COLLECTING, ...variables };
}
