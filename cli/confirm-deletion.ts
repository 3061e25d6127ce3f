import { CommandError, UsageError } from './command-error.ts';
import { wrap } from './output.ts';

type Deletion = { question: string; name: string; yes: boolean | undefined; json: boolean | undefined };

/** Asks a person before `name` is removed. Throws a `UsageError` if nobody can be asked, a `CommandError` if the answer is no. */
export async function confirmDeletion({ question, name, yes, json }: Deletion): Promise<void> {
  if (yes === true) return;
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  if (!isTerminal || json) throw new UsageError(`${question}. Pass --yes to do that`);
  process.stderr.write(`${wrap(question)}.\n`);
  const { confirmed } = await import('./init/ask.ts');
  if (!(await confirmed(`Remove ${name}?`))) throw new CommandError(`${name} was not removed`);
}
