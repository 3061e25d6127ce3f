/**
 * Thrown if the command line, the environment or a configuration file is invalid. Each problem is one line that names
 * the key and what was expected; the command line prints them and exits with 2.
 */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}
