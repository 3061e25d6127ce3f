import { mkdir, readFile } from 'node:fs/promises';
import { basename, dirname, relative, resolve } from 'node:path';
import { intro, outro } from '@clack/prompts';
import { errorCode, errorText } from '../../base/error-code.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { parseGalleyConfig } from '../../programs/config/galley-yaml.ts';
import { createContext } from '../../programs/process/context.ts';
import { listeningUrl } from '../../programs/process/serve.ts';
import { envFileBeside, readEnvFile } from '../../programs/settings/env-file.ts';
import { DEFAULT_CONFIG, type Settings } from '../../programs/settings/environment.ts';
import { describeFinding, type Finding } from '../checks/finding.ts';
import { CommandError, UsageError } from '../command-error.ts';
import { printJson, printLines } from '../output.ts';
import { type Answers, newSecret, secretVariable } from './answers.ts';
import { askAnswers, confirmed } from './ask.ts';
import { checkAnswers } from './check-answer.ts';
import { type InitOptions, readOptions, withDefaults } from './from-options.ts';
import { renderConfig, variablesOf } from './render-config.ts';

/** Runs the command `init`. */
export async function init(options: InitOptions): Promise<void> {
  const { settings } = createContext({ quiet: true });
  const isAsking = options.yes !== true && options.json !== true;
  if (isAsking && !(process.stdin.isTTY && process.stdout.isTTY))
    throw new UsageError('There is no terminal to ask on: answer with options, and add --yes');
  const configFile = resolve(settings.variables.GALLEY_CONFIG ?? DEFAULT_CONFIG);
  const given = await readOptions(options, settings);
  if (isAsking) intro('galley init');
  await allowConfig(configFile, { isAsking, overwrite: options.overwrite === true });
  const checks = options.skipChecks !== true;
  const answers = isAsking ? await askAnswers({ given, configFile, checks }) : withDefaults(given);
  const findings = isAsking || !checks ? [] : await checkAnswers(answers, configFile);
  if (!options.json) printLines(findings.map(describeFinding));
  if (findings.some(({ status }) => status === 'fail')) {
    if (options.json) printJson({ written: [], checks: findings });
    throw new CommandError('Nothing was written. Correct what failed, or write it anyway with --skip-checks');
  }
  const envFile = await write(configFile, answers, { isAsking, overwrite: options.overwrite === true });
  finish({ configFile, envFile, answers, findings, settings }, { isAsking, json: options.json === true });
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
  await mkdir(dirname(configFile), { recursive: true });
  await replaceFile(envFile, withVariables(before, variables), { mode: 0o600 });
  await replaceFile(configFile, config, { mode: 0o644 });
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
  configFile: string;
  envFile: string;
  answers: Answers;
  findings: readonly Finding[];
  settings: Settings;
}

function finish(finished: Finished, { isAsking, json }: { isAsking: boolean; json: boolean }): void {
  const { configFile, envFile, answers, findings, settings } = finished;
  const { site, source, publicUrl } = answers;
  const webhookUrl = `${publicUrl ?? listeningUrl(settings)}/webhooks/${site}/${source}`;
  const variable = secretVariable(source);
  const next = ['npx galley up', `npx galley webhook send ${site} ${source}`];
  if (json) {
    printJson({ written: [configFile, envFile], webhookUrl, secretVariable: variable, next, checks: findings });
    return;
  }
  const [config, env] = [configFile, envFile].map((file) => relative(process.cwd(), file) || file);
  if (isAsking) outro(`Wrote ${config} and ${env}`);
  else printLines([`Wrote ${config} and ${env}`]);
  printLines([
    'Start Galley:',
    `  ${next[0]}`,
    `Enter this URL in the CMS (${source}):`,
    `  ${webhookUrl}`,
    publicUrl === undefined && '  The CMS must reach this machine: put its public host in front of the path.',
    `  Its secret is ${variable} in ${env}. If the CMS shows one of its own, put`,
    '  that there instead.',
    'Or publish once without the CMS, while Galley runs:',
    `  ${next[1]}`,
  ]);
}

async function readOptional(file: string): Promise<string | undefined> {
  return await readFile(file, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new CommandError(`${file} can't be read: ${errorText(error)}`);
  });
}

/**
 * The text of a `.env` after variables were set. Other lines, comments and their order stay.
 * @throws UsageError if a value can't be written to such a file.
 */
export function withVariables(text: string, variables: Readonly<Record<string, string>>): string {
  const missing = new Map(Object.entries(variables));
  const lines = text.split('\n').map((line) => {
    const name = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/.exec(line)?.[1];
    const value = name === undefined ? undefined : missing.get(name);
    if (name === undefined || value === undefined) return line;
    missing.delete(name);
    return `${name}=${quoted(name, value)}`;
  });
  const kept = lines.join('\n').replace(/\n*$/, '');
  const added = [...missing].map(([name, value]) => `${name}=${quoted(name, value)}`);
  return `${[...(kept === '' ? [] : [kept]), ...added].join('\n')}\n`;
}

/** The format has no escapes, so a value is written between quotes that it doesn't contain. */
function quoted(name: string, value: string): string {
  if (/^[\w.:/@+-][\w.:/@+=-]*$/.test(value)) return value;
  const quote = ["'", '`', '"'].find((each) => !value.includes(each) && !(each === '"' && value.includes('\\')));
  if (quote === undefined || /[\r\n\0]/.test(value))
    throw new UsageError(
      `${name}: expected one line without all three of ', " and \`; set it in the environment instead`,
    );
  return quote + value + quote;
}
