import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { pino } from 'pino';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import type { ForgeWriter } from '../../forge/forge.ts';
import { ForgeError } from '../../forge/forge-error.ts';
import { SandboxMissingError } from '../../platform/activities/agent/runners/sandbox/read-sandbox.ts';
import {
  agentEnvironment,
  agentRunnerOf,
  checkAgentCommand,
  requireSandbox,
  warnAboutAgentCommand,
} from '../../programs/parts/agents.ts';
import { forgesOf } from '../../programs/parts/forges.ts';
import { readSettings } from '../../programs/settings/environment.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const silent = pino({ level: 'silent' });
const folder = temporaryFolder();

/** A logger and its lines. */
function listening() {
  const lines: string[] = [];
  return { logger: pino({}, { write: (line: string) => void lines.push(line) }), lines };
}

describe('the agent that the variables choose', () => {
  test.each([
    [{}, 'example'],
    [{ AGENT_COMMAND: '/opt/bin/coder --yes' }, 'coder'],
    [{ AGENT_COMMAND: 'coder', AGENT_MODEL: 'coder-2' }, 'coder-2'],
  ])('reports itself as the model of its jobs: %j', (variables, model) => {
    expect(agentRunnerOf(readSettings(variables), silent).model).toBe(model);
  });

  test('gets only PATH, the language and the variables in AGENT_ENV', () => {
    const variables = { PATH: '/usr/bin', LANG: 'C', CODER_KEY: 'k', DATABASE_URL: 'postgres://x/y', OTHER: 'o' };
    expect(agentEnvironment(readSettings({ ...variables, AGENT_ENV: 'CODER_KEY,MISSING' }))).toEqual({
      PATH: '/usr/bin',
      LANG: 'C',
      CODER_KEY: 'k',
    });
  });

  test('is rejected if its command line needs a shell', () => {
    const settings = readSettings({ AGENT_COMMAND: 'coder | tee log' });
    expect(() => agentRunnerOf(settings, silent)).toThrow(ConfigurationError);
    expect(() => agentRunnerOf(settings, silent)).toThrow(/^AGENT_COMMAND: /);
  });
});

describe('the start of a worker with an incomplete agent', () => {
  const missing = async (): Promise<never> => {
    throw new SandboxMissingError('bubblewrap is not installed: apt-get install bubblewrap.');
  };

  test('warns of a missing sandbox and of variables that are not set', async () => {
    const { logger, lines } = listening();
    await warnAboutAgentCommand(readSettings({ AGENT_COMMAND: 'sh', AGENT_ENV: 'CODER_KEY' }), logger, missing);
    expect(lines).toEqual([
      expect.stringMatching(/"variables":\["CODER_KEY"\].*AGENT_ENV/),
      expect.stringMatching(/"level":30.*AGENT_NETWORK_ALLOW is empty: the agent has no network/),
      expect.stringMatching(/bubblewrap is not installed.*Until then every agent job fails\./),
    ]);
  });

  test('logs that the example agent is used if no agent is configured', async () => {
    const { logger, lines } = listening();
    await warnAboutAgentCommand(readSettings({}), logger, missing);
    expect(lines).toEqual([expect.stringMatching(/AGENT_COMMAND is not set: the example agent works/)]);
  });

  test('warns of a key that is missing or has a passphrase, and not of one that can sign commits', async () => {
    const keyOf = async (name: string, passphrase: string): Promise<string> => {
      const file = join(folder, name);
      await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-f', file]);
      return file;
    };
    const keys = [join(folder, 'none'), await keyOf('locked', 'secret'), await keyOf('free', '')];
    const warnings = keys.map(async (file) => {
      const { logger, lines } = listening();
      const { PATH = '' } = process.env;
      const variables = { PATH, AGENT_COMMAND: 'sh', AGENT_SANDBOX: 'off', AGENT_COMMIT_SIGNING_KEY: file };
      await warnAboutAgentCommand(readSettings(variables), logger, missing);
      return lines;
    });
    const warning = expect.stringMatching(/AGENT_COMMIT_SIGNING_KEY: .*can't sign.*Until then every agent job fails\./);
    expect(await Promise.all(warnings)).toEqual([[warning], [warning], []]);
  });

  test('logs nothing if the sandbox is turned off', async () => {
    const { logger, lines } = listening();
    await warnAboutAgentCommand(readSettings({ AGENT_COMMAND: 'sh', AGENT_SANDBOX: 'off' }), logger, missing);
    expect(lines).toEqual([]);
  });
});

describe('a process that only runs agents', () => {
  const missing = async (): Promise<never> => {
    throw new SandboxMissingError('this machine forbids it.');
  };

  test.each([{ AGENT_COMMAND: 'sh' }, { AGENT_SANDBOX: 'on' }])('ends without a sandbox: %j', async (variables) => {
    const ended = requireSandbox(readSettings(variables), missing);
    await expect(ended).rejects.toThrow(new ConfigurationError(['AGENT_SANDBOX: this machine forbids it.']));
  });

  test.each([{}, { AGENT_COMMAND: 'sh', AGENT_SANDBOX: 'off' }])('needs none: %j', async (variables) => {
    await expect(requireSandbox(readSettings(variables), missing)).resolves.toBeUndefined();
  });

  test('goes on with one', async () => {
    await expect(requireSandbox(readSettings({ AGENT_COMMAND: 'sh' }), async () => ({}))).resolves.toBeUndefined();
  });
});

describe('a command line that cannot start', () => {
  beforeAll(() => writeFile(join(folder, 'agent.mjs'), ''));

  const trouble = (variables: Record<string, string>) =>
    checkAgentCommand(readSettings({ PATH: '/usr/bin:/bin', ...variables }));

  test('is reported if its program is not on PATH', async () => {
    expect(await trouble({ AGENT_COMMAND: 'no-such-agent --yes' })).toMatch(/no program no-such-agent .*PATH/);
  });

  test('is reported if it names a file that the sandbox hides, with the remedy', async () => {
    const command = `sh ${folder}/agent.mjs --model ${folder}/missing /usr/bin/env`;
    expect(await trouble({ AGENT_COMMAND: command })).toBe(
      `AGENT_COMMAND: agents can't read ${folder}/agent.mjs in their sandbox: name it in AGENT_READ.`,
    );
    expect(await trouble({ AGENT_COMMAND: command, AGENT_READ: folder })).toBeUndefined();
    expect(await trouble({ AGENT_COMMAND: command, AGENT_SANDBOX: 'off' })).toBeUndefined();
  });
});

describe('the forge of a repository', () => {
  const refuse = async (): Promise<never> => {
    throw new Error('not to be called');
  };
  const embedded: ForgeWriter = {
    findPullRequest: refuse,
    openPullRequest: refuse,
    updatePullRequest: refuse,
    gitCredentials: refuse,
  };

  test('is the embedded one for a folder, and the one of the variables otherwise', () => {
    const { forge: hosted } = readSettings({ FORGE_KIND: 'github', FORGE_TOKEN: 't' });
    const forgeFor = forgesOf({ hosted, embedded, logger: silent });
    expect(forgeFor('file:///srv/docs.git')).toBe(embedded);
    expect(forgeFor('https://github.com/acme/docs')).not.toBe(embedded);
  });

  test('is missing with an error that names the variables if none is configured', () => {
    const forgeFor = forgesOf({ hosted: undefined, embedded, logger: silent });
    expect(forgeFor('file:///srv/docs.git')).toBe(embedded);
    expect(() => forgeFor('https://github.com/acme/docs')).toThrow(ForgeError);
    expect(() => forgeFor('https://github.com/acme/docs')).toThrow(/FORGE_KIND, and FORGE_TOKEN or FORGE_APP_ID/);
  });
});
