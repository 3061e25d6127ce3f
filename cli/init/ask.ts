import { confirm, log, password, select, spinner, text } from '@clack/prompts';
import type { z } from 'zod';
import { describeFinding, type Finding } from '../checks/finding.ts';
import { CommandError } from '../command-error.ts';
import { ANSWER, type Answers, secretProblem, sourceNames } from './answers.ts';
import { CHECK_ANSWER } from './check-answer.ts';
import { addressOfThisMachine, DEFAULTS, valuesFileOf } from './from-options.ts';

interface Options {
  /** Answers that were given as options are not asked for. */
  given: Partial<Answers>;
  configFile: string;
  /** Whether to check each answer against servers and files. */
  checks: boolean;
  /** For docker-compose.yml, which brings Temporal and a volume for values files. */
  compose: boolean;
}

/**
 * Asks for everything that isn't given, on the terminal. An answer that fails its check is asked for again, unless the
 * person keeps it.
 * @throws CommandError if the person cancels
 */
export async function askAnswers({ given, configFile, checks, compose }: Options): Promise<Answers> {
  const site = given.site ?? (await askText({ message: 'Name of the site', initial: DEFAULTS.site }, ANSWER.site));
  const adminApi = given.adminApi ?? (await askAdminApi(checks));
  const { domain, origin } = await askOrigin(given, { asksOrigin: adminApi === undefined, checks });
  const source = given.source ?? (await askSource());
  const secret = given.secret ?? (await askSecret(source));
  const valuesFile = compose ? valuesFileOf(site) : await askValuesFile(given, { site, configFile, checks });
  const temporal = compose ? undefined : (given.temporal ?? (await askTemporal(checks)));
  const publicUrl = given.publicUrl ?? (await askPublicUrl());
  const publicHost = !compose || adminApi !== undefined ? undefined : (given.publicHost ?? (await askPublicHost()));
  return { site, domain, origin, source, secret, valuesFile, adminApi, temporal, publicUrl, publicHost };
}

async function askValuesFile(
  given: Partial<Answers>,
  { site, configFile, checks }: { site: string; configFile: string; checks: boolean },
): Promise<string> {
  return await untilChecked(
    checks,
    async (isFirst) =>
      (isFirst ? given.valuesFile : undefined) ??
      (await askText({ message: 'Values file of the deployment', initial: valuesFileOf(site) }, ANSWER.valuesFile)),
    (file) => CHECK_ANSWER.valuesFile(file, configFile),
  );
}

/** Links to bundles name it. */
async function askPublicHost(): Promise<string> {
  const message = 'Name or address of this machine, as deployments elsewhere reach it';
  return await askText({ message, initial: addressOfThisMachine() }, ANSWER.publicHost);
}

async function askOrigin(
  given: Partial<Answers>,
  { asksOrigin, checks }: { asksOrigin: boolean; checks: boolean },
): Promise<Pick<Answers, 'domain' | 'origin'>> {
  const domain =
    given.domain ?? (await askText({ message: 'Domain of the site', placeholder: 'docs.example.com' }, ANSWER.domain));
  if (!asksOrigin) return { domain, origin: undefined };
  const ask = async (isFirst: boolean): Promise<Pick<Answers, 'domain' | 'origin'>> => {
    if (isFirst && given.origin !== undefined) return { domain, origin: given.origin };
    const message = `Server to export from, if it isn't https://${domain}`;
    const origin = await askText({ message, placeholder: 'empty: the domain' }, ANSWER.origin, { optional: true });
    return { domain, origin: origin || undefined };
  };
  return await untilChecked(checks, ask, CHECK_ANSWER.origin);
}

const PROJECT_QUESTION = { message: 'Id of the project there', placeholder: 'empty: it exports by domain' };

async function askAdminApi(checks: boolean): Promise<Answers['adminApi']> {
  const kind = await choose('Who exports the site?', [
    { value: 'own', label: 'Galley, on this machine', hint: 'galley up runs everything' },
    { value: 'hosted', label: 'A hosted Admin API', hint: 'you have its URL and a key' },
  ]);
  if (kind === 'own') return undefined;
  const ask = async () => ({
    url: await askText({ message: 'URL of the Admin API', placeholder: 'https://api.example.com' }, ANSWER.adminApiUrl),
    key: await askHidden('Key of the Admin API', ANSWER.adminApiKey),
    projectId: (await askText(PROJECT_QUESTION, ANSWER.projectId, { optional: true })) || undefined,
  });
  return await untilChecked(checks, ask, CHECK_ANSWER.adminApi);
}

async function askTemporal(checks: boolean): Promise<Answers['temporal']> {
  const kind = await choose('Which Temporal?', [
    { value: 'own', label: 'One on this machine', hint: 'galley up runs it' },
    { value: 'external', label: 'A Temporal service' },
  ]);
  if (kind === 'own') return undefined;
  const ask = async () => ({
    address: await askText(
      { message: 'Address of Temporal', placeholder: 'temporal.example.com:7233' },
      ANSWER.temporalAddress,
    ),
    namespace: await askText({ message: 'Namespace', initial: DEFAULTS.temporalNamespace }, ANSWER.temporalNamespace),
    apiKey: (await askHidden('API key (empty: none)', ANSWER.secret, { optional: true })) || undefined,
  });
  return await untilChecked(checks, ask, CHECK_ANSWER.temporal);
}

async function askSource(): Promise<string> {
  const names = sourceNames().sort((a, b) => Number(b === DEFAULTS.source) - Number(a === DEFAULTS.source));
  return await choose(
    'Which CMS publishes? (token, standard: any other)',
    names.map((value) => ({ value, label: value })),
  );
}

async function askSecret(source: string): Promise<string | undefined> {
  const message = `Signing secret of ${source} (empty: Galley makes one, to enter there)`;
  const problem = (value: string): string | undefined => secretProblem(source, value);
  return (await askHidden(message, ANSWER.secret, { optional: true, problem })) || undefined;
}

async function askPublicUrl(): Promise<string | undefined> {
  const message = 'Public URL of this machine for the CMS (empty: not yet)';
  return (
    (await askText({ message, placeholder: 'https://hooks.example.com' }, ANSWER.publicUrl, { optional: true })) ||
    undefined
  );
}

/** Asks again until the answer passes its check or the person keeps it. */
async function untilChecked<T>(
  checks: boolean,
  ask: (isFirst: boolean) => Promise<T>,
  check: (answer: T) => Promise<Finding[]>,
): Promise<T> {
  for (let isFirst = true; ; isFirst = false) {
    const answer = await ask(isFirst);
    if (!checks) return answer;
    const progress = spinner();
    progress.start('Checking');
    const findings = await check(answer);
    progress.stop('Checked');
    for (const finding of findings) log.message(describeFinding(finding));
    if (findings.every(({ status }) => status === 'ok')) return answer;
    if (await confirmed('Keep this answer anyway?')) return answer;
  }
}

interface Question {
  message: string;
  initial?: string;
  placeholder?: string;
}

type TextOptions = { optional?: boolean };

async function askText(
  { message, initial, placeholder }: Question,
  schema: z.ZodType<string>,
  { optional = false }: TextOptions = {},
): Promise<string> {
  const given = await text({
    message,
    ...(initial !== undefined && { initialValue: initial }),
    ...(placeholder !== undefined && { placeholder }),
    validate: (value = '') => (optional && value === '' ? undefined : expected(schema, value)),
  });
  const answer = orCanceled(given);
  return optional && answer === '' ? '' : schema.parse(answer);
}

async function askHidden(
  message: string,
  schema: z.ZodType<string>,
  { optional = false, problem }: TextOptions & { problem?: (value: string) => string | undefined } = {},
): Promise<string> {
  const given = await password({
    message,
    validate: (value = '') =>
      optional && value === '' ? undefined : (expected(schema, value) ?? problem?.(value) ?? undefined),
  });
  return orCanceled(given);
}

function expected(schema: z.ZodType<string>, value: string): string | undefined {
  return schema.safeParse(value).error?.issues[0]?.message;
}

async function choose(message: string, options: { value: string; label: string; hint?: string }[]): Promise<string> {
  return orCanceled(await select({ message, options, maxItems: 10 }));
}

/** @throws CommandError if the person cancels */
export async function confirmed(message: string): Promise<boolean> {
  const answer = await confirm({ message, initialValue: false });
  if (typeof answer === 'symbol') throw canceled();
  return answer;
}

function orCanceled(answer: string | symbol | undefined): string {
  if (typeof answer === 'symbol') throw canceled();
  return answer ?? '';
}

function canceled(): CommandError {
  return new CommandError('Canceled: nothing was changed');
}
