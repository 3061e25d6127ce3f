import { Command } from 'commander';
import { createContext } from '../../programs/process/context.ts';
import { createLifetime, untilSignal } from '../../programs/process/lifetime.ts';
import { CommandError } from '../command-error.ts';

export function demoCommand(): Command {
  return new Command('demo')
    .description('follow a publish through every step on this machine, with this project’s own documentation')
    .option('--once', 'exit after the last step')
    .addHelpText(
      'after',
      '\nExit code 0 only if every step succeeded. Uses free ports and a temporary folder, and removes everything.',
    )
    .action(demo);
}

async function demo({ once }: { once?: boolean }): Promise<void> {
  const { settings, logger } = createContext({ quiet: true });
  const { runDemo } = await import('../demo/run-demo.ts');
  const lifetime = createLifetime(logger);
  const say = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  const asked = untilSignal();
  let allSeen = false;
  const seen = runDemo({ logger, lifetime, variables: settings.variables, mergesItself: once === true, say }).then(
    async (seeMerge) => {
      allSeen = true;
      say('\nEvery step succeeded.');
      if (once) return;
      say('Everything keeps running: press Ctrl-C to stop it.');
      await Promise.race([asked, seeMerge?.()]);
      await asked;
    },
  );
  const interrupted = asked.then(() => {
    if (!allSeen) throw new CommandError('The demo was stopped before its last step');
  });
  try {
    await Promise.race([seen, interrupted, lifetime.failed]);
  } finally {
    await lifetime.stop();
  }
}
