import { confirm, log, password, select, spinner, text } from '@clack/prompts';
import type { z } from 'zod';
import { describeFinding, type Finding } from '../checks/finding.ts';
import { CommandError } from '../command-error.ts';
import { type Address, ANSWER, type Answers, address, secretProblem, sourceNames } from './answers.ts';
import { CHECK_ANSWER } from './check-answer.ts';
import { addressOfThisMachine, DEFAULTS, valuesFileOf, withDefaults } from './from-options.ts';

interface Options {
  /** Answers that were given as options are not asked for. */
  given: Partial<Answers>;
  configFile: string;
  /** Whether to check each answer against servers and files. */
  checks: boolean;
  /** For docker-compose.yml, which brings Temporal and a volume for values files. */
  compose: boolean;
  /** Whether to ask for what has a default, too. */
  all: boolean;
}

/**
 * Asks for what isn't given and has no default, on the terminal; with `all` for everything. An answer that fails its check is asked for again, unless the
 * person keeps it.
 * @throws CommandError if the person cancels
 */
export async function askAnswers(options: Options): Promise<Answers> {
  const { given, checks, compose, all } = options;
  const site = given.site ?? (await askSite());
  const adminApi = given.adminApi ?? (compose || all ? await askAdminApi(checks) : undefined);
  const { domain, origin } = await askAddress(given, { isOwn: adminApi === undefined, checks });
  const source = given.source ?? (await askSource());
  const asked = { ...given, site, adminApi, domain, origin, source };
  return all ? await askRest(options, asked) : withDefaults(asked);
}

type Asked = Partial<Answers> & Pick<Answers, 'site' | 'adminApi' | 'domain' | 'origin' | 'source'>;

/** Asks for what has a default. */
async function askRest({ configFile, checks, compose }: Options, given: Asked): Promise<Answers> {
  const { site, adminApi, source } = given;
  const secret = given.secret ?? (await askSecret(source));
  const valuesFile = compose ? valuesFileOf(site) : await askValuesFile(given, { site, configFile, checks });
  const temporal = compose ? undefined : (given.temporal ?? (await askTemporal(checks)));
  const publicUrl = given.publicUrl ?? (await askPublicUrl());
  const publicHost = !compose || adminApi !== undefined ? undefined : (given.publicHost ?? (await askPublicHost()));
  return { ...given, secret, valuesFile, temporal, publicUrl, publicHost };
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

/** The key of a hosted Admin API whose URL was given. */
export async function askAdminApiKey(): Promise<string> {
  return await askHidden('Key of the Admin API', ANSWER.adminApiKey);
}

/** Links to bundles name it. */
async function askPublicHost(): Promise<string> {
  const message = 'Name or address of this machine, as deployments elsewhere reach it';
  return await askText({ message, initial: addressOfThisMachine() }, ANSWER.publicHost);
}

async function askSite(): Promise<string> {
  const question = { message: 'Name of the site', placeholder: DEFAULTS.site };
  return (await askText(question, ANSWER.site, { optional: true })) || DEFAULTS.site;
}

/** @param isOwn whether the site is exported here; otherwise its server is a setting of the hosted Admin API */
async function askAddress(
  given: Partial<Answers>,
  { isOwn, checks }: { isOwn: boolean; checks: boolean },
): Promise<Pick<Answers, 'domain' | 'origin'>> {
  const ask = async (isFirst: boolean): Promise<Pick<Answers, 'domain' | 'origin'>> => {
    const known: Address =
      isFirst && (given.domain ?? given.origin) !== undefined ? given : await askText(SITE, address);
    const { origin, domain = await askText(DOMAIN, ANSWER.domain) } = known;
    return { domain, origin: isOwn ? origin : undefined };
  };
  return await untilChecked(checks && isOwn, ask, CHECK_ANSWER.origin);
}

const SITE = { message: 'Domain or URL of the site', placeholder: 'docs.example.com' };
const DOMAIN = { message: 'Domain that its readers will see', placeholder: 'docs.example.com' };

const PROJECT_QUESTION = { message: 'Id of the project there', placeholder: 'empty: it exports by domain' };

async function askAdminApi(checks: boolean): Promise<Answers['adminApi']> {
  const kind = await choose('Who exports the site?', [
    { value: 'own', label: 'Galley, on this machine', hint: 'galley up runs everything' },
    { value: 'hosted', label: 'A hosted Admin API', hint: 'you have its URL and a key' },
  ]);
  if (kind === 'own') return undefined;
  const ask = async () => ({
    url: await askText({ message: 'URL of the Admin API', placeholder: 'https://api.example.com' }, ANSWER.adminApiUrl),
    key: await askAdminApiKey(),
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

async function askText<T>(question: Question, schema: z.ZodType<T>): Promise<T>;
async function askText(question: Question, schema: z.ZodType<string>, options: TextOptions): Promise<string>;
async function askText(
  { message, initial, placeholder }: Question,
  schema: z.ZodType,
  { optional = false }: TextOptions = {},
): Promise<unknown> {
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

function expected(schema: z.ZodType, value: string): string | undefined {
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
