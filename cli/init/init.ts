import { mkdir } from 'node:fs/promises';
import { basename, dirname, relative, resolve } from 'node:path';
import { intro, outro } from '@clack/prompts';
import { plainReason } from '../../base/plain-reason.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { parseGalleyConfig } from '../../programs/config/galley-yaml.ts';
import { createContext } from '../../programs/process/context.ts';
import { listeningUrl } from '../../programs/process/serve.ts';
import { envFileBeside, readEnvFile } from '../../programs/settings/env-file.ts';
import { DEFAULT_CONFIG } from '../../programs/settings/environment.ts';
import { describeFinding, type Finding } from '../checks/finding.ts';
import { CommandError, UsageError } from '../command-error.ts';
import { printJson, printLines } from '../output.ts';
import { type Answers, newSecret, secretVariable } from './answers.ts';
import { askAdminApiKey, askAnswers, confirmed } from './ask.ts';
import { checkAnswers } from './check-answer.ts';
import { writeCompose } from './compose.ts';
import { readOptional, withVariables } from './env-text.ts';
import { type InitOptions, readOptions, withDefaults } from './from-options.ts';
import { renderConfig, variablesOf } from './render-config.ts';

/** Runs the command `init`. */
export async function init(options: InitOptions): Promise<void> {
  const { settings } = createContext({ quiet: true });
  const isAsking = options.yes !== true && options.json !== true;
  if (isAsking && !(process.stdin.isTTY && process.stdout.isTTY))
    throw new UsageError('There is no terminal to ask on: answer with options, and add --yes');
  const configFile = resolve(settings.variables.GALLEY_CONFIG ?? DEFAULT_CONFIG);
  const given = await readOptions(options, settings, isAsking ? askAdminApiKey : undefined);
  if (isAsking) intro('galley init');
  const compose = options.compose === true;
  if (!compose) await allowConfig(configFile, { isAsking, overwrite: options.overwrite === true });
  const checks = options.skipChecks !== true;
  const answers = isAsking
    ? await askAnswers({ given, configFile, checks, compose, all: options.askAll === true })
    : withDefaults(given);
  const findings = isAsking || !checks ? [] : await checkAnswers(answers, compose ? undefined : configFile);
  if (!options.json) printLines(findings.map(describeFinding));
  if (findings.some(({ status }) => status === 'fail')) {
    if (options.json) printJson({ written: [], checks: findings });
    throw new CommandError('Nothing was written. Correct what failed, or write it anyway with --skip-checks');
  }
  const output = { isAsking, json: options.json === true };
  if (compose) {
    const files = await writeCompose(configFile, answers);
    const next = { start: 'docker compose up --build --wait', run: 'docker compose exec api galley' };
    finish({ ...files, receiver: 'http://127.0.0.1:3000', next, answers, findings }, output);
    return;
  }
  const envFile = await write(configFile, answers, { isAsking, overwrite: options.overwrite === true });
  const variable = secretVariable(answers.source);
  // As it was typed: an installed command needs no npx.
  const run = settings.variables.npm_command === undefined ? 'galley' : 'npx galley';
  const next = { start: `${run} up`, run };
  const receiver = listeningUrl(settings);
  finish({ written: [configFile, envFile], envFile, variable, receiver, next, answers, findings }, output);
}

interface Consent {
  isAsking: boolean;
  /** The option --overwrite. */
  overwrite: boolean;
}

async function allowConfig(file: string, { isAsking, overwrite }: Consent): Promise<void> {
  if (overwrite || (await readOptional(file)) === undefined) return;
  if (!isAsking) throw new UsageError(`${file} exists: --overwrite replaces it`);
  if (!(await confirmed(`${basename(file)} exists. Replace it?`)))
    throw new CommandError('Nothing was written: galley.yaml stays as it is');
}

/** Writes both files; resolves with the path of `.env`. What the file has already stays, unless the person agrees. */
async function write(configFile: string, answers: Answers, consent: Consent): Promise<string> {
  const envFile = envFileBeside(configFile);
  const existing = readEnvFile(envFile);
  const variable = secretVariable(answers.source);
  const secret = answers.secret ?? (existing[variable] || newSecret(answers.source));
  const variables = variablesOf(answers, secret);
  const config = renderConfig(answers);
  // A mistake of ours must not become the operator's file.
  const standIn = { ADMIN_API_URL: 'http://127.0.0.1', ADMIN_API_KEY: 'none', ...variables };
  parseGalleyConfig({ text: config, file: configFile, env: standIn });

  const changed = Object.keys(variables).filter((name) => existing[name] && existing[name] !== variables[name]);
  if (changed.length > 0 && !consent.overwrite) await allowChange(envFile, changed, consent);
  const before = (await readOptional(envFile)) ?? ENV_HEAD;
  try {
    await mkdir(dirname(configFile), { recursive: true });
    await replaceFile(envFile, withVariables(before, variables), { mode: 0o600 });
    await replaceFile(configFile, config, { mode: 0o644 });
  } catch (error) {
    throw new CommandError(
      `${configFile} was not written: ${plainReason(error)}. Run galley init in another folder, or set GALLEY_CONFIG`,
    );
  }
  return envFile;
}

const ENV_HEAD = `# Read by galley beside galley.yaml; variables of the environment win.
# It holds secrets: keep it out of version control.
`;

async function allowChange(file: string, names: readonly string[], { isAsking }: Consent): Promise<void> {
  if (!isAsking) throw new UsageError(`${file} has other values of ${names.join(', ')}: --overwrite replaces them`);
  if (!(await confirmed(`.env has other values of ${names.join(', ')}. Replace them?`)))
    throw new CommandError(`Nothing was written: ${file} stays as it is`);
}

interface Finished {
  /** The files that changed. */
  written: readonly string[];
  /** The file and the variable of the webhook's secret. */
  envFile: string;
  variable: string;
  /** The receiver's URL on this machine. */
  receiver: string;
  /** How to start Galley, and how to run a command of it. */
  next: { start: string; run: string };
  answers: Answers;
  findings: readonly Finding[];
}

function finish(
  { written, envFile, variable, receiver, next, answers, findings }: Finished,
  { isAsking, json }: { isAsking: boolean; json: boolean },
): void {
  const { site, source, publicUrl } = answers;
  const webhookUrl = `${publicUrl ?? receiver}/webhooks/${site}/${source}`;
  const commands = [next.start, `${next.run} webhook send ${site} ${source}`];
  if (json) {
    printJson({ written, webhookUrl, secretVariable: variable, next: commands, checks: findings });
    return;
  }
  const shown = (file: string): string => relative(process.cwd(), file) || file;
  const files = new Intl.ListFormat('en-US').format(written.map(shown));
  const result = written.length === 0 ? 'Nothing to write: the files have this site' : `Wrote ${files}`;
  if (isAsking) outro(result);
  else printLines([result]);
  printLines([
    'Start Galley:',
    `  ${commands[0]}`,
    `Enter this URL in the CMS (${source}):`,
    `  ${webhookUrl}`,
    publicUrl === undefined && '  The CMS must reach this machine: put its public host in front of the path,',
    publicUrl === undefined && `  or use a tunnel such as \`cloudflared tunnel --url ${receiver}\`.`,
    `  Its secret is ${variable} in ${shown(envFile)}. If the CMS shows one of its own, put`,
    '  that there instead.',
    'Or publish once without the CMS, while Galley runs:',
    `  ${commands[1]}`,
  ]);
}
