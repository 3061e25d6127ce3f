import { access } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { splitCommandLine } from '../../platform/activities/agent/runners/command-line.ts';
import { reachProgram } from '../../platform/activities/agent/runners/reach-program.ts';
import { isOfSystem } from '../../platform/activities/agent/runners/sandbox/mounts.ts';
import type { Settings } from '../settings/environment.ts';
import { agentEnvironment } from './agent-runner.ts';

/** Folders that the sandbox creates: paths below them needn't be files of this machine. */
const MADE_INSIDE = ['/dev', '/proc', '/etc', '/scratch'];

/**
 * Why AGENT_COMMAND can't start in a job, in one sentence: a missing program, or named files that the sandbox hides.
 * Undefined if there is no known reason.
 * @throws ConfigurationError if it isn't a valid command line.
 */
export async function checkAgentCommand(settings: Pick<Settings, 'agent' | 'variables'>): Promise<string | undefined> {
  const { command, sandbox, readablePaths } = settings.agent;
  if (command === undefined) return undefined;
  const [program = '', ...words] = splitCommandLine(command, 'AGENT_COMMAND');
  const environment = agentEnvironment(settings);
  const reach = await reachProgram(program, { environment, readOnlyPaths: readablePaths });
  if (reach === undefined) return `AGENT_COMMAND: there is no program ${program} on this machine's PATH.`;
  if (!sandbox) return undefined;
  const isHidden = (word: string): boolean =>
    isAbsolute(word) && !isOfSystem(word) && ![...MADE_INSIDE, ...reach.readOnlyPaths].some((path) => isIn(word, path));
  const hidden = await Promise.all(words.filter(isHidden).map(async (word) => ((await exists(word)) ? [word] : [])));
  const names = hidden.flat().join(', ');
  return names === ''
    ? undefined
    : `AGENT_COMMAND: agents can't read ${names} in their sandbox: name it in AGENT_READ.`;
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
