import { Command } from 'commander';
import type { z } from 'zod';
import { agentRuleState } from '../../contract/agent-state.ts';
import { API_URL_OPTION, openOrchestrator, TOKEN_HELP } from '../orchestrator-client.ts';

/** Parsed loosely, because an api of another release may send more or fewer fields. */
const ended = agentRuleState.partial().loose();

export function agentsCommand(): Command {
  const command = new Command('agents').description('the agent rules of a running api');
  command
    .command('remove')
    .argument('<site>', 'the name of the site')
    .argument('<rule>', 'the name of the rule')
    .option('--json', 'print what was removed as JSON')
    .option(...API_URL_OPTION)
    .description('end an agent rule and report what ended')
    .addHelpText(
      'after',
      `\nChanges that the rule started continue. Take the rule out of galley.yaml first: the next publish starts it again.\n${TOKEN_HELP}`,
    )
    .action(async (site: string, rule: string, options: { json?: boolean; url?: string }) => {
      const ask = await openOrchestrator(options);
      const response = await ask(`/sites/${encodeURIComponent(site)}/agents/${encodeURIComponent(rule)}`, 'DELETE');
      if (options.json) process.stdout.write(`${JSON.stringify(response, null, 2)}\n`);
      else process.stdout.write(whatEnded(site, rule, ended.parse(response)));
    });
  return command;
}

function whatEnded(site: string, rule: string, state: z.infer<typeof ended>): string {
  const waiting = state.pendingCount ?? 0;
  const facts = [
    `The rule ${rule} of ${site} was removed and no longer prompts an agent.`,
    waiting > 0 && `${waiting} waiting event(s) were dropped.`,
    (state.changes?.length ?? 0) > 0 && 'Changes that it started continue until their pull requests end.',
    'If galley.yaml still names the rule, the next publish starts it again.',
  ];
  return facts.map((fact) => (fact ? `${fact}\n` : '')).join('');
}
