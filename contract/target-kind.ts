import { z } from 'zod';
import { httpUrl } from './http-url.ts';
import { oneOrMore, secret, standardSecret } from './webhook-settings.ts';

/** How a deployment gets a version: the keys of an entry of `deployments` in galley.yaml. */
export const TARGET_KINDS = ['valuesFile', 'git', 'helm', 'http', 'directory', 's3', 'airgap'] as const;
export const targetKind = z.enum(TARGET_KINDS);
export type TargetKind = z.infer<typeof targetKind>;

/** Node sends no request to a URL with credentials. */
export const urlWithoutCredentials = httpUrl.refine(
  (url) => !URL.canParse(url) || (new URL(url).username === '' && new URL(url).password === ''),
  'expected a URL without user name and password',
);

/** HTTP(S), SSH (also `git@host:path`), or a repository on the worker's disk. */
const gitRepository = z
  .string()
  .refine(
    (url) => /^(?:https?|ssh|file):\/\/\S+$/.test(url) || /^[\w.-]+@[\w.-]+:[^\s-]\S*$/.test(url),
    'expected the URL of a repository',
  )
  .refine(
    (url) => !URL.canParse(url) || new URL(url).password === '',
    'expected a URL without a password: set token instead',
  )
  .refine(
    (url) => !/^https?:/.test(url) || !URL.canParse(url) || new URL(url).username === '',
    'expected a URL without a user name: set username and token instead',
  );

const branchName = z.string().regex(/^[^\s~^:?*[\\-][^\s~^:?*[\\]*$/, 'expected the name of a branch');

const pathInRepository = z
  .string()
  .regex(/^[^/\\\s][^\\\p{Cc}]*$/u, 'expected a path relative to the root of the repository')
  .refine((path) => path.split('/').every((part) => !['', '.', '..', '.git'].includes(part)), 'expected a path in it');

const git = z.strictObject({
  repository: gitRepository,
  path: pathInRepository,
  branch: branchName.default('main'),
  /** `pull-request`: commits to a branch of its own and keeps one pull request open. */
  mode: z.enum(['push', 'pull-request']).default('push'),
  token: secret.optional(),
  /** The username for the token, if the forge requires a certain one. */
  username: z.string().min(1).optional(),
});

/** Kubernetes' names, so that none is taken for an option of helm. */
const kubernetesName = z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, 'expected a name of Kubernetes');
const noOption = z.string().regex(/^[^-\s]\S*$/, 'expected a text without spaces that doesn’t begin with "-"');

const helm = z.strictObject({
  release: kubernetesName,
  namespace: kubernetesName,
  /** The chart as `helm upgrade` takes it: a folder, a reference or an `oci://` URL. */
  chart: noOption,
  /** The context in the kubeconfig; the current one by default. */
  context: noOption.optional(),
});

const http = z.strictObject({
  url: urlWithoutCredentials,
  /** Signs; each secret of a list adds a signature, so that a secret can be rotated without a gap. */
  secret: oneOrMore(standardSecret),
});

const S3_EXPECTED = 'expected s3://bucket/prefix?endpoint=…&region=…';
const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const s3Parameters = z.strictObject({
  endpoint: httpUrl.optional(),
  region: z.string().min(1).optional(),
  pathStyle: z.enum(['true', 'false']).optional(),
});

export type S3Target = {
  bucket: string;
  /** Empty, or ends with a slash. */
  prefix: string;
  endpoint: string | undefined;
  region: string | undefined;
  /** Bucket in the path instead of the host name. */
  pathStyle: boolean;
  /** Missing: those of the standard AWS chain. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined };
};

/** @returns undefined if it isn't the URL of a bucket or of a prefix in one */
export function parseS3Target(url: string): S3Target | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 's3:' || parsed.username !== '' || parsed.password !== '' || parsed.hash !== '')
    return undefined;
  const parameters = s3Parameters.safeParse(Object.fromEntries(parsed.searchParams));
  if (!parameters.success || !bucketName.test(parsed.host)) return undefined;
  const { endpoint, region, pathStyle } = parameters.data;
  const path = decodeURIComponent(parsed.pathname).replace(/^\/+|\/+$/g, '');
  if (/(^|\/)\.{0,2}(\/|$)/.test(path) && path !== '') return undefined;
  return {
    bucket: parsed.host,
    prefix: path === '' ? '' : `${path}/`,
    endpoint,
    // AWS needs the right region; other servers take any.
    region: region ?? (endpoint === undefined ? undefined : 'us-east-1'),
    pathStyle: pathStyle === undefined ? endpoint !== undefined : pathStyle === 'true',
  };
}

const s3Url = z.string().refine((url) => parseS3Target(url) !== undefined, S3_EXPECTED);

/** Each bucket has its own keys, because two buckets seldom belong to the same user. */
const s3WithKeys = z.strictObject({
  url: s3Url,
  accessKeyId: secret,
  secretAccessKey: secret,
  sessionToken: secret.optional(),
});

/** @throws Error if `settings` aren't checked ones */
export function s3Target(settings: SettingsOf<'s3'>): S3Target {
  const { url, ...credentials } = typeof settings === 'string' ? { url: settings } : settings;
  const target = parseS3Target(url);
  if (target === undefined) throw new Error(S3_EXPECTED);
  return { ...target, ...('accessKeyId' in credentials && { credentials }) };
}

const path = z.string().min(1);

/** What follows the kind's name in galley.yaml. */
export const targetSettings = {
  valuesFile: path,
  git,
  helm,
  http,
  directory: path,
  s3: z.union([s3Url, s3WithKeys], {
    error: 'expected s3://bucket/prefix?endpoint=…&region=…, or the keys url, accessKeyId and secretAccessKey',
  }),
  airgap: path,
} satisfies Record<TargetKind, z.ZodType>;
export type SettingsOf<Kind extends TargetKind> = z.infer<(typeof targetSettings)[Kind]>;

/** What Galley has to know of a kind, besides how to write to it. Pure, because workflows use it. */
type Target<Kind extends TargetKind> = {
  /** Where it is: unique in its site, the same as long as it writes to the same place, and without secrets. */
  place(settings: SettingsOf<Kind>, context: PlaceContext): string;
  /** Its settings are a path on one machine's disk, relative to galley.yaml. */
  isOnDisk: boolean;
  /** The deployment keeps the link, which expires. The others hold the files themselves. */
  keepsLink: boolean;
  /** Operators can pin a version there or switch it off. */
  hasSwitches: boolean;
  /** Sites may share it, because it distinguishes them. */
  isShareable: boolean;
  /**
   * How long a write may take, one attempt and all of them, without the time for which it waits for a worker. Null: it
   * takes milliseconds.
   */
  longWrite: { startToCloseTimeout: Time; scheduleToCloseTimeout: Time } | null;
  /** How many writes and readings of pins wait at a time on one worker. */
  slots: number;
};
type Time = `${number}${'s' | 'm' | 'h'}`;

/** `on`: the machine with the path, and a colon; or nothing. `digest` stands for a text that may be secret. */
type PlaceContext = { on: string; digest(text: string): string };

export const TARGETS: { [Kind in TargetKind]: Target<Kind> } = {
  valuesFile: {
    place: (path, { on }) => `${on}${path}`,
    isOnDisk: true,
    keepsLink: true,
    hasSwitches: true,
    isShareable: false,
    longWrite: null,
    slots: 50,
  },
  git: {
    place: ({ repository, branch, path }) => `git:${repository}#${branch}:${path}`,
    isOnDisk: false,
    keepsLink: true,
    hasSwitches: true,
    isShareable: false,
    longWrite: { startToCloseTimeout: '2m', scheduleToCloseTimeout: '5m' },
    slots: 20,
  },
  helm: {
    place: ({ release, namespace, context }) =>
      `helm:${context === undefined ? '' : `${context}/`}${namespace}/${release}`,
    isOnDisk: false,
    keepsLink: true,
    hasSwitches: true,
    isShareable: false,
    longWrite: { startToCloseTimeout: '2m', scheduleToCloseTimeout: '5m' },
    slots: 20,
  },
  http: {
    // The path of a deploy hook is often its secret.
    place: ({ url }, { digest }) => `${new URL(url).origin}#${digest(new URL(url).href).slice(0, 8)}`,
    isOnDisk: false,
    keepsLink: true,
    hasSwitches: false,
    isShareable: true,
    longWrite: { startToCloseTimeout: '15s', scheduleToCloseTimeout: '1m' },
    slots: 50,
  },
  directory: {
    place: (path, { on }) => `directory:${on}${path}`,
    isOnDisk: true,
    keepsLink: false,
    hasSwitches: false,
    isShareable: false,
    longWrite: { startToCloseTimeout: '1h', scheduleToCloseTimeout: '2h' },
    slots: 20,
  },
  s3: {
    place(settings) {
      const { bucket, prefix } = s3Target(settings);
      return `s3://${bucket}/${prefix}`;
    },
    isOnDisk: false,
    keepsLink: false,
    hasSwitches: false,
    isShareable: false,
    longWrite: { startToCloseTimeout: '1h', scheduleToCloseTimeout: '2h' },
    slots: 20,
  },
  airgap: {
    place: (path, { on }) => `airgap:${on}${path}`,
    isOnDisk: true,
    keepsLink: false,
    hasSwitches: false,
    isShareable: true,
    longWrite: { startToCloseTimeout: '1h', scheduleToCloseTimeout: '2h' },
    slots: 20,
  },
};
