import { readSettings } from '../../cli/environment.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';

/** What is wrong with these variables, each in a sentence; nothing where they can be used. */
export function problemsOf(variables: Record<string, string>): readonly string[] {
  try {
    readSettings(variables);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}
