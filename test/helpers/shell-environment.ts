import { LESS_COLLECTING } from './less-collecting.ts';

/** These variables and a shell's basic ones, without the developer's other variables. */
export function shellEnvironment(variables: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { PATH, HOME, XDG_CACHE_HOME, TMPDIR } = process.env;
  const kept = Object.entries({ PATH, HOME, XDG_CACHE_HOME, TMPDIR }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(kept), ...LESS_COLLECTING, ...variables };
}
