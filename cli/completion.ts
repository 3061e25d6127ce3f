import completions, { type ArgumentHandler, type OptionHandler } from '@bomb.sh/tab';
import registerCommands from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import { printJson } from './output.ts';
import { configuredSites, type NamedSites } from './sites/configured-sites.ts';

/** The script needs this function of the package bash-completion, which many machines lack. */
const BASH_FALLBACK = `if ! declare -F _get_comp_words_by_ref >/dev/null; then
  _get_comp_words_by_ref() {
    words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD
    cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD > 0 ? COMP_CWORD - 1 : 0]}
  }
fi
`;

type Shell = 'bash' | 'zsh' | 'fish';

/** Prints the script that a shell evaluates; it calls `galley complete`. */
export function printScript(shell: Shell, { json = false }: { json?: boolean } = {}): void {
  const script = (shell === 'bash' ? BASH_FALLBACK : '') + scriptOf(shell);
  if (json) printJson({ shell, script });
  else process.stdout.write(script);
}

/** The package can only print its script. */
function scriptOf(shell: Shell): string {
  const { log } = console;
  let script = '';
  console.log = (text: string) => {
    script += `${text}\n`;
  };
  try {
    completions.setup('galley', 'galley', shell);
  } finally {
    console.log = log;
  }
  return script;
}

/** Prints what can follow these words, in the form that the scripts read. Never fails: a shell would show that. */
export function complete(program: Command, words: string[]): void {
  // Adds the commands `completion` and `complete` too, so the program must not have them.
  registerCommands(program, { completionCommandName: 'completion' });
  const names = namesOf(configuredSites());
  for (const command of completions.commands.values()) {
    for (const argument of command.arguments.values()) {
      const known = names[argument.name];
      if (known !== undefined) argument.handler = adding(known);
    }
    for (const option of command.options.values()) {
      const known = names[option.value];
      if (known !== undefined) option.handler = adding(known);
    }
  }
  completions.parse(words);
}

function adding(names: readonly string[]): ArgumentHandler & OptionHandler {
  return (add) => {
    for (const name of names) add(name, '');
  };
}

/** What an argument or an option of this name can be. */
function namesOf(sites: NamedSites): Record<string, readonly string[]> {
  const sources = Object.values(sites).flatMap(({ webhooks }) => Object.keys(webhooks));
  const deployments = Object.values(sites).flatMap(({ export: { deployments } }) => deployments);
  const names = deployments.flatMap(({ name }) => name ?? []);
  return { site: Object.keys(sites), source: [...new Set(sources)], deployment: [...new Set(names)] };
}
