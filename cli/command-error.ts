/** Thrown if a command's work failed; the message is for the user. Exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Thrown if a command was called in a way that can't work. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Thrown at Ctrl-C, with what goes on without the command. Exit code 130, as shells report it. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
