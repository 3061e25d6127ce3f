import { createHash } from 'node:crypto';
import { z } from 'zod';
import { positiveDurationMs } from './duration.ts';
import { httpUrl } from './http-url.ts';
import { TARGET_KINDS, type TargetKind } from './target-kind.ts';
import { oneOrMore, secret, standardSecret } from './webhook-settings.ts';

/** An entry of `deployments` in galley.yaml: one target of exactly one kind, and how it is confirmed. */

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
  /** For forges whose tokens need a certain one. */
  username: z.string().min(1).optional(),
});

/** Kubernetes' names, so that none is taken for an option of helm. */
const kubernetesName = z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, 'expected a name of Kubernetes');
const noOption = z.string().regex(/^[^-\s]\S*$/, 'expected a text without spaces that doesn’t begin with "-"');

const helm = z.strictObject({
  release: kubernetesName,
  namespace: kubernetesName,
  /** As `helm upgrade` takes it: a folder, a reference, an `oci://` URL. */
  chart: noOption,
  /** Of the kubeconfig; without it, the current one. */
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

/** With keys of its own: two buckets seldom belong to the same user. */
const s3WithKeys = z.strictObject({
  url: s3Url,
  accessKeyId: secret,
  secretAccessKey: secret,
  sessionToken: secret.optional(),
});

const hostName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,99}$/i, 'expected the name that a worker has as --deployment-host');

const statusUrl = z.url({ protocol: /^https?$/, error: 'expected an http(s) URL' });

const kinds = {
  valuesFile: z.string().min(1).optional(),
  git: git.optional(),
  helm: helm.optional(),
  http: http.optional(),
  directory: z.string().min(1).optional(),
  s3: z
    .union([s3Url, s3WithKeys], {
      error: 'expected s3://bucket/prefix?endpoint=…&region=…, or the keys url, accessKeyId and secretAccessKey',
    })
    .optional(),
  airgap: z.string().min(1).optional(),
} satisfies Record<TargetKind, z.ZodType>;

/** Targets on one machine's disk. */
const ON_DISK: readonly TargetKind[] = ['valuesFile', 'directory', 'airgap'];

export const deploymentConfig = z
  .strictObject({
    ...kinds,
    /** The machine with the file or folder, if workers run on several. */
    host: hostName.optional(),
    /** The `/-/status` of the deployment, or of each of its replicas. */
    statusUrl: z.union([statusUrl, z.array(statusUrl).min(1)]).optional(),
    /** How long it may take until each of them serves a new version. */
    confirmWithin: positiveDurationMs.optional(),
    /** `auto`: if it takes longer, the version before it is deployed again. */
    rollback: z.enum(['auto', 'never']).optional(),
  })
  .superRefine((entry, context) => {
    const problem = (key: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [key], message });
    };
    const [kind, second] = TARGET_KINDS.filter((each) => entry[each] !== undefined);
    if (kind === undefined) problem('valuesFile', `expected one of ${TARGET_KINDS.join(', ')}`);
    else if (second !== undefined) problem(second, `expected one target per entry: it has ${kind} already`);
    if (entry.host !== undefined && kind !== undefined && !ON_DISK.includes(kind)) {
      problem('host', `expected only with ${ON_DISK.join(', ')}: any worker can write to ${kind}`);
    }
    if (entry.statusUrl !== undefined) return;
    for (const key of ['confirmWithin', 'rollback'] as const) {
      if (entry[key] !== undefined) problem(key, 'expected only with a statusUrl');
    }
  });
export type DeploymentConfig = z.infer<typeof deploymentConfig>;

/** The settings of one target, by its kind. */
export type TargetSettings =
  | { kind: 'valuesFile'; path: string }
  | { kind: 'git'; git: z.infer<typeof git> }
  | { kind: 'helm'; helm: z.infer<typeof helm> }
  | { kind: 'http'; http: z.infer<typeof http> }
  | { kind: 'directory'; path: string }
  | { kind: 's3'; s3: S3Target }
  | { kind: 'airgap'; path: string };
export type GitTarget = z.infer<typeof git>;
export type HelmTarget = z.infer<typeof helm>;
export type HttpTarget = z.infer<typeof http>;

/** @throws Error if `entry` isn't a checked one */
export function targetSettings(entry: DeploymentConfig): TargetSettings {
  if (entry.git !== undefined) return { kind: 'git', git: entry.git };
  if (entry.helm !== undefined) return { kind: 'helm', helm: entry.helm };
  if (entry.http !== undefined) return { kind: 'http', http: entry.http };
  if (entry.directory !== undefined) return { kind: 'directory', path: entry.directory };
  if (entry.airgap !== undefined) return { kind: 'airgap', path: entry.airgap };
  if (entry.s3 !== undefined) {
    const { url, ...credentials } = typeof entry.s3 === 'string' ? { url: entry.s3 } : entry.s3;
    const s3 = parseS3Target(url);
    if (s3 !== undefined) return { kind: 's3', s3: { ...s3, ...('accessKeyId' in credentials && { credentials }) } };
  }
  if (entry.valuesFile !== undefined) return { kind: 'valuesFile', path: entry.valuesFile };
  throw new Error('a deployment without a target: deploymentConfig should have rejected it');
}

/**
 * The name of a deployment: unique in its site, the same as long as it writes to the same place, and without secrets. A
 * values file's is its path.
 */
export function deploymentName(entry: DeploymentConfig): string {
  const settings = targetSettings(entry);
  const on = entry.host === undefined ? '' : `${entry.host}:`;
  switch (settings.kind) {
    case 'valuesFile':
      return `${on}${settings.path}`;
    case 'directory':
    case 'airgap':
      return `${settings.kind}:${on}${settings.path}`;
    case 'git':
      return `git:${settings.git.repository}#${settings.git.branch}:${settings.git.path}`;
    case 'helm': {
      const { release, namespace, context } = settings.helm;
      return `helm:${context === undefined ? '' : `${context}/`}${namespace}/${release}`;
    }
    case 'http': {
      // The path of a deploy hook is often its secret.
      const { origin, href } = new URL(settings.http.url);
      return `${origin}#${createHash('sha256').update(href).digest('hex').slice(0, 8)}`;
    }
    case 's3':
      return `s3://${settings.s3.bucket}/${settings.s3.prefix}`;
  }
}

/** The values files of these deployments that are on this worker's own disk. */
export function localValuesFiles(entries: readonly DeploymentConfig[]): string[] {
  return entries.flatMap(({ valuesFile, host }) =>
    valuesFile === undefined || host !== undefined ? [] : [valuesFile],
  );
}
