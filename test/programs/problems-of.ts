import { ConfigurationError } from '../../contract/configuration-error.ts';
import { readSettings } from '../../programs/settings/environment.ts';

/** The problems of these variables, one sentence each. Empty if they are valid. */
export function problemsOf(variables: Record<string, string>): readonly string[] {
  try {
    readSettings(variables);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}
