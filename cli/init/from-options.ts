import { networkInterfaces } from 'node:os';
import type { z } from 'zod';
import type { Settings } from '../../programs/settings/environment.ts';
import { UsageError } from '../command-error.ts';
import { readSecret } from '../projects/read-secret.ts';
import { ANSWER, type Answers, address, secretProblem } from './answers.ts';

/** The options of `galley init`, one for each question. */
export interface InitOptions {
  site?: string;
  domain?: string;
  origin?: string;
  source?: string;
  secret?: string;
  valuesFile?: string;
  adminApiUrl?: string;
  adminApiKey?: string;
  projectId?: string;
  temporalAddress?: string;
  temporalNamespace?: string;
  temporalApiKey?: string;
  publicUrl?: string;
  publicHost?: string;
  compose?: boolean;
  askAll?: boolean;
  yes?: boolean;
  overwrite?: boolean;
  skipChecks?: boolean;
  json?: boolean;
}

export const DEFAULTS = { site: 'docs', source: 'contentful', temporalNamespace: 'default' } as const;

/** The first address that isn't the loopback's. */
export function addressOfThisMachine(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return addresses.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.1';
}

/** The suggested values file of a site. */
export function valuesFileOf(site: string): string {
  return `values/${site}.yaml`;
}

/**
 * The answers that were given as options, each checked; `-` for a secret reads standard input.
 * @param askKey asks for the key of a hosted Admin API, if there is a terminal
 * @throws UsageError naming the option and what was expected
 */
export async function readOptions(
  options: InitOptions,
  { adminApiKey: keyOfEnvironment }: Pick<Settings, 'adminApiKey'>,
  askKey?: () => Promise<string>,
): Promise<Partial<Answers>> {
  const secret = options.secret && (await readSecret('--secret', options.secret, process.stdin));
  const givenKey = options.adminApiKey && (await readSecret('--admin-api-key', options.adminApiKey, process.stdin));
  const url = given('--admin-api-url', ANSWER.adminApiUrl, options.adminApiUrl);
  const askedKey = url !== undefined && givenKey === undefined && keyOfEnvironment === undefined && (await askKey?.());
  const key =
    given('--admin-api-key', ANSWER.adminApiKey, givenKey ?? (url && keyOfEnvironment)) ?? (askedKey || undefined);
  if (key !== undefined && url === undefined) throw new UsageError('--admin-api-url: expected beside --admin-api-key');
  if (url !== undefined && key === undefined)
    throw new UsageError('--admin-api-key: expected beside --admin-api-url; - reads it from standard input');
  if (url !== undefined && options.origin !== undefined)
    throw new UsageError('--origin has no effect with --admin-api-url: set it in the project at that service');
  const projectId = given('--project-id', ANSWER.projectId, options.projectId);
  if (projectId !== undefined && url === undefined)
    throw new UsageError('--project-id: expected beside --admin-api-url');
  const source = given('--source', ANSWER.source, options.source);
  const problem = secret && secretProblem(source ?? DEFAULTS.source, secret);
  if (problem !== undefined && problem !== '') throw new UsageError(`--secret: ${problem}`);
  const temporalAddress = given('--temporal-address', ANSWER.temporalAddress, options.temporalAddress);
  const namespace = given('--temporal-namespace', ANSWER.temporalNamespace, options.temporalNamespace);
  if (temporalAddress === undefined && (namespace ?? options.temporalApiKey) !== undefined)
    throw new UsageError('--temporal-address: expected beside the other options of Temporal');
  checkCompose(options);
  const site = given('--domain', address, options.domain);
  const origin = given('--origin', ANSWER.origin, options.origin) ?? site?.origin;
  return withoutUndefined({
    site: given('--site', ANSWER.site, options.site),
    domain: site?.domain,
    origin: url === undefined ? origin : undefined,
    source,
    secret: given('--secret', ANSWER.secret, secret),
    valuesFile: given('--values-file', ANSWER.valuesFile, options.valuesFile),
    adminApi: url !== undefined && key !== undefined ? { url, key, projectId } : undefined,
    temporal: temporalAddress && {
      address: temporalAddress,
      namespace: namespace ?? DEFAULTS.temporalNamespace,
      apiKey: options.temporalApiKey,
    },
    publicUrl: given('--public-url', ANSWER.publicUrl, options.publicUrl),
    publicHost: given('--public-host', ANSWER.publicHost, options.publicHost),
  });
}

/** docker-compose.yml brings Temporal and a volume for values files. */
function checkCompose({ compose, temporalAddress, valuesFile, overwrite, publicHost }: InitOptions): void {
  if (compose !== true && publicHost !== undefined) throw new UsageError('--public-host: expected beside --compose');
  if (compose !== true) return;
  const others = { '--temporal-address': temporalAddress, '--values-file': valuesFile, '--overwrite': overwrite };
  const other = Object.entries(others).find(([, value]) => value !== undefined)?.[0];
  if (other !== undefined) throw new UsageError(`${other} has no effect with --compose`);
}

/**
 * The answers without a person: options, otherwise defaults.
 * @throws UsageError if there is no domain
 */
export function withDefaults(answers: Partial<Answers>): Answers {
  const { domain, origin, site = DEFAULTS.site } = answers;
  const beside = origin === undefined ? '' : `, beside its server: --domain docs.example.com --origin ${origin}`;
  if (domain === undefined)
    throw new UsageError(`--domain: expected the domain of the site${beside || ', such as docs.example.com'}`);
  return {
    origin: undefined,
    secret: undefined,
    adminApi: undefined,
    temporal: undefined,
    publicUrl: undefined,
    publicHost: undefined,
    source: DEFAULTS.source,
    valuesFile: valuesFileOf(site),
    ...answers,
    site,
    domain,
  };
}

function given<T>(option: string, schema: z.ZodType<T>, text: string | undefined): T | undefined {
  if (text === undefined || text === '') return undefined;
  const parsed = schema.safeParse(text);
  if (!parsed.success) throw new UsageError(`${option}: ${parsed.error.issues[0]?.message}`);
  return parsed.data;
}

function withoutUndefined(answers: { [Key in keyof Answers]: Answers[Key] | undefined | '' }): Partial<Answers> {
  return Object.fromEntries(Object.entries(answers).filter(([, value]) => value !== undefined && value !== ''));
}
