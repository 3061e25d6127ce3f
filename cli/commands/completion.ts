import { Argument, Command } from 'commander';

const HELP = `
Completes commands, options and the site names of galley.yaml. galley must be on the PATH, for example by npm link.

  bash: source <(galley completion bash)      in ~/.bashrc
  zsh:  source <(galley completion zsh)       in ~/.zshrc, after compinit
  fish: galley completion fish | source       in ~/.config/fish/config.fish`;

export function completionCommand(): Command {
  return new Command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .description('print a script that completes commands, options and site names')
    .option('--json', 'print {shell, script} as JSON')
    .addHelpText('after', HELP)
    .action(async (shell: 'bash' | 'zsh' | 'fish', options: { json?: boolean }) => {
      const { printScript } = await import('../completion.ts');
      printScript(shell, options);
    });
}

/** What the scripts call, as `galley complete -- WORDS`. */
export function completeCommand(createProgram: () => Promise<Command>): Command {
  return new Command('complete').argument('[words...]').action(async (words: string[]) => {
    const { complete } = await import('../completion.ts');
    complete(await createProgram(), words);
  });
}
