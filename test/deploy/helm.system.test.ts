import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ValidateFunction } from 'ajv';
import ajv from 'ajv/dist/2020.js';
import { execa } from 'execa';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { createProgram } from '../../cli/program.ts';
import { staticExportValues } from '../../contract/values-file.ts';
import { parseValues } from '../../deployment/values/values.ts';
import { cacheFolder } from '../../embedded/cache-folder.ts';
import { parseGalleyConfig } from '../../programs/config/galley-yaml.ts';
import { VARIABLE_NAMES } from '../../programs/settings/environment.ts';
import { locateRealTool } from '../helpers/real-tool.ts';

/** The oldest release that the charts support, and the newest one whose schemas are installed. */
const RELEASES = ['1.30', '1.37'] as const;

/** The oldest one whose API server keeps what the sandbox of agents needs. */
const FOR_AGENTS = '1.33.0';

/** Jobs of Helm's hooks, which end. */
const isHook = (name: string): boolean => /-(?:config-check|migrations|test)$/.test(name);

const CHARTS = ['galley-deployment', 'galley'] as const;
const KINDS = ['air-gapped', 'client-hosted', 'cloud'] as const;
const cases = CHARTS.flatMap((chart) => KINDS.map((kind) => ({ chart, kind })));

const variable = z.looseObject({ name: z.string(), value: z.string().optional(), valueFrom: z.unknown().optional() });
const container = z.looseObject({
  args: z.array(z.string()),
  env: z.array(variable),
  securityContext: z.unknown(),
  resources: z.looseObject({ requests: z.unknown(), limits: z.unknown() }),
  livenessProbe: z.unknown().optional(),
  readinessProbe: z.unknown().optional(),
});
const pod = z.looseObject({ securityContext: z.looseObject({}), containers: z.array(container) });
/** Without defaults, so that the schemas judge what was rendered. */
const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), annotations: z.record(z.string(), z.string()).optional() }),
  data: z.record(z.string(), z.string()).optional(),
  spec: z.looseObject({ template: z.looseObject({ spec: pod }).optional() }).optional(),
});
type Manifest = z.infer<typeof manifest>;

let helm: string;
beforeAll(async () => {
  helm = await locateRealTool('helm');
});

/** Helm's default for `--timeout`. */
const HELM_TIMEOUT_SECONDS = 300;

const valuesOf = (chart: string, kind: string): string => `deploy/helm/${chart}/ci/${kind}-values.yaml`;

async function render(chart: string, ...options: string[]): Promise<Manifest[]> {
  const template = ['template', 'docs', `deploy/helm/${chart}`, '--namespace', 'docs', '--kube-version', FOR_AGENTS];
  const { stdout } = await execa(helm, [...template, ...options]);
  return parseAllDocuments(stdout)
    .map((document): unknown => document.toJS())
    .filter((value) => value !== null)
    .map((value) => manifest.parse(value));
}

const rendered = new Map<string, Promise<Manifest[]>>();

/** Rendered once for all tests. */
async function renderKind(chart: string, kind: string): Promise<Manifest[]> {
  const values = valuesOf(chart, kind);
  const manifests = rendered.get(values) ?? render(chart, '--values', values);
  rendered.set(values, manifests);
  return await manifests;
}

/** Validators of a release's own schemas, by kind. They reject fields that Kubernetes doesn't know. */
function createValidator(release: string): (object: Manifest) => ValidateFunction {
  const folder = join(cacheFolder(), 'kubernetes-schemas', release);
  if (!existsSync(folder)) throw new Error(`${folder} is missing. Run: npm run setup:system`);
  const read = (file: string): Record<string, unknown> =>
    z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(join(folder, file), 'utf8')));
  const schemas = new ajv.Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false });
  schemas.addSchema(read('_definitions.json'));
  const validators = new Map<string, ValidateFunction>();
  return ({ apiVersion, kind }) => {
    const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const file = [kind.toLowerCase(), group.split('.')[0], version].filter(Boolean).join('-');
    const validator = validators.get(file) ?? schemas.compile(read(`${file}.json`));
    validators.set(file, validator);
    return validator;
  };
}

const podsOf = (manifests: readonly Manifest[]) =>
  manifests.flatMap(({ metadata, spec }) =>
    spec?.template ? [{ name: metadata.name, spec: spec.template.spec }] : [],
  );

it.each(cases)('helm lint has no complaint about $chart with the values for $kind', async ({ chart, kind }) => {
  const lint = ['lint', '--strict', '--kube-version', FOR_AGENTS, '--values', valuesOf(chart, kind)];
  const { stdout } = await execa(helm, [...lint, `deploy/helm/${chart}`]);
  expect(stdout).toContain('1 chart(s) linted, 0 chart(s) failed');
});

describe.each(RELEASES)('by the schemas of Kubernetes %s', (release) => {
  const validatorOf = createValidator(release);

  it.each(cases)('every manifest of $chart for $kind is valid', async ({ chart, kind }) => {
    const manifests = await renderKind(chart, kind);
    expect(manifests.length).toBeGreaterThan(4);
    const problems = manifests.flatMap((object) => {
      const validate = validatorOf(object);
      validate(object);
      return (validate.errors ?? []).map(
        ({ instancePath, message }) => `${object.kind} ${object.metadata.name}${instancePath} ${message}`,
      );
    });
    expect(problems).toEqual([]);
  });

  it('an unknown field and a wrong type are rejected, so that the check above can fail', async () => {
    const [service] = (await renderKind('galley', 'cloud')).filter(({ kind }) => kind === 'Service');
    if (service === undefined) throw new Error('expected a Service');
    const validate = validatorOf(service);
    expect(validate({ ...service, spec: { ...service.spec, portz: [] } })).toBe(false);
    expect(validate({ ...service, spec: { ...service.spec, ports: 'http' } })).toBe(false);
  });
});

describe('every pod', () => {
  it.each(cases)('of $chart for $kind runs with few rights, and is probed', async ({ chart, kind }) => {
    for (const { name, spec } of podsOf(await renderKind(chart, kind))) {
      const agents = name.endsWith('-agent-worker');
      expect(spec.automountServiceAccountToken).toBe(false);
      expect(spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: agents ? 'Unconfined' : 'RuntimeDefault' },
      });
      for (const { securityContext, livenessProbe, readinessProbe } of spec.containers) {
        expect(securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        if (isHook(name)) continue;
        expect(livenessProbe).toMatchObject({ httpGet: { path: expect.stringMatching(/^(?:\/-)?\/healthz$/) } });
        expect(readinessProbe).toMatchObject({ httpGet: { path: expect.stringMatching(/^(?:\/-)?\/readyz$/) } });
      }
    }
  });

  it.each(cases)('of $chart for $kind has a command and variables that galley knows', async ({ chart, kind }) => {
    const commands = (await createProgram()).commands.map((command) => command.name());
    const known = [...VARIABLE_NAMES, 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'TEMPORAL_API_KEY'];
    for (const { name, spec } of podsOf(await renderKind(chart, kind))) {
      const [only] = spec.containers;
      expect(commands).toContain(only?.args[0]);
      const names = only?.env.map((each) => each.name) ?? [];
      expect(names.filter((each) => !known.includes(each))).toEqual([]);
      if (!isHook(name)) expect(only?.env).toContainEqual({ name: 'HOST', value: '0.0.0.0' });
      const secrets = only?.env.filter((each) => /TOKEN|DATABASE_URL|_KEY|SECRET|BASIC_AUTH/.test(each.name)) ?? [];
      expect(secrets.filter(({ value }) => value !== undefined)).toEqual([]);
    }
  });

  it.each(cases)('of $chart for $kind has a network policy, and no secret is in the release', async (row) => {
    const manifests = await renderKind(row.chart, row.kind);
    expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    const guarded = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map(({ metadata }) => metadata.name);
    const running = podsOf(manifests).map(({ name }) => name);
    expect(guarded.sort()).toEqual(running.filter((name) => !isHook(name)).sort());
  });
});

describe('the chart galley-deployment', () => {
  it.each(KINDS)('writes a values file for %s that the deployment reads', async (kind) => {
    const config = (await renderKind('galley-deployment', kind)).find((each) => each.kind === 'ConfigMap');
    const wanted = parseValues(config?.data?.['values.yaml'] ?? '', 'values.yaml');
    expect(wanted).toMatchObject({ enabled: true, settings: { kind } });
    if (kind === 'client-hosted') {
      expect(wanted).toMatchObject({ version: '2026-11-21.3' });
      expect(wanted.settings).toMatchObject({
        features: { search: true },
        headers: { '/**': { 'X-Frame-Options': null } },
      });
    }
  });

  it.each([
    [
      'a link alone is served',
      ['bundleUrl=https://a.example/1'],
      { enabled: true, link: new URL('https://a.example/1') },
    ],
    ['a link that is switched off is not', ['bundleUrl=https://a.example/1', 'enabled=false'], { enabled: false }],
    ['nothing is served without a link', [], { enabled: false }],
  ])('%s', async (_what, sets, wanted) => {
    const manifests = await render('galley-deployment', ...sets.flatMap((set) => ['--set', `staticExport.${set}`]));
    const config = manifests.find(({ kind }) => kind === 'ConfigMap');
    expect(parseValues(config?.data?.['values.yaml'] ?? '', 'values.yaml')).toMatchObject(wanted);
  });

  it('names the values of the contract', () => {
    const { properties } = z
      .object({ properties: z.object({ staticExport: z.object({ properties: z.record(z.string(), z.unknown()) }) }) })
      .parse(JSON.parse(readFileSync('deploy/helm/galley-deployment/values.schema.json', 'utf8')));
    const known = Object.keys(properties.staticExport.properties);
    expect(known).toEqual(expect.arrayContaining(Object.keys(staticExportValues.shape)));
  });

  it('changes no pod for a new link: pods follow the mounted file', async () => {
    const at = async (link: string): Promise<Manifest[]> =>
      await render('galley-deployment', '--set-string', `staticExport.bundleUrl=${link}`);
    const [before, after] = [await at('https://a.example/1'), await at('https://a.example/2')];
    const changed = before.filter((each, index) => JSON.stringify(each) !== JSON.stringify(after[index]));
    expect(changed.map(({ kind }) => kind)).toEqual(['ConfigMap']);
  });

  it('lets an air-gapped pod open no connection', async () => {
    const [policy] = (await renderKind('galley-deployment', 'air-gapped')).filter(
      ({ kind }) => kind === 'NetworkPolicy',
    );
    expect(policy?.spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'], egress: [] });
  });
});

describe('the chart galley', () => {
  it.each(KINDS)('writes a galley.yaml for %s that is a correct configuration', async (kind) => {
    const config = (await renderKind('galley', kind)).find((each) => each.kind === 'ConfigMap');
    const text = config?.data?.['galley.yaml'] ?? '';
    const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
    const env = Object.fromEntries([...names, 'ADMIN_API_KEY'].map((name) => [name, 'x'.repeat(64)]));
    const urls = { ADMIN_API_URL: 'http://platform:3100', SMTP_URL: 'smtp://mail:25' };
    const { sites } = parseGalleyConfig({ text, file: '/config/galley.yaml', env: { ...env, ...urls } });
    expect(sites.docs?.export.deployments).toMatchObject([{ valuesFile: '/values/docs.yaml' }]);
  });

  it('runs these processes, and migrates before them', async () => {
    const args = async (kind: string) =>
      podsOf(await renderKind('galley', kind)).map(({ spec }) => spec.containers[0]?.args.join(' '));
    expect((await args('client-hosted')).sort()).toEqual([
      'api',
      'config check',
      'webhook send docs sanity --url http://docs-galley-api:3000',
      'worker',
    ]);
    expect((await args('air-gapped')).sort()).toEqual([
      ...['api', 'config check', 'migrate', 'platform', 'platform-worker --no-agents'],
      ...['webhook send docs standard --url http://docs-galley-api:3000', 'worker'],
    ]);
    expect((await args('cloud')).sort()).toEqual([
      ...['agent-worker', 'api', 'config check', 'migrate', 'platform', 'platform-worker --no-agents'],
      ...['webhook send docs contentful --url http://docs-galley-api:3000', 'worker'],
    ]);
  });

  it('checks its configuration and migrates before anything changes, and ends both before Helm gives up', async () => {
    const hooks = (await renderKind('galley', 'cloud')).filter(
      ({ metadata }) => metadata.annotations?.['helm.sh/hook'],
    );
    const weights = hooks.map(({ metadata: { name, annotations }, kind }) => [
      ...[`${kind} ${name}`, annotations?.['helm.sh/hook'], annotations?.['helm.sh/hook-weight']],
    ]);
    expect(weights).toEqual([
      ['ConfigMap docs-galley-config-check', 'pre-install,pre-upgrade', '-2'],
      ['Job docs-galley-config-check', 'pre-install,pre-upgrade', '-1'],
      ['Job docs-galley-migrations', 'pre-install,pre-upgrade', '0'],
      ['Job docs-galley-test', 'test', '0'],
    ]);
    for (const { spec } of hooks.filter(({ kind }) => kind === 'Job')) {
      expect(Number(spec?.activeDeadlineSeconds)).toBeLessThan(HELM_TIMEOUT_SECONDS);
      expect(spec).toMatchObject({
        ttlSecondsAfterFinished: expect.any(Number),
        podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [2] } }] },
      });
    }
  });

  it('keeps the configuration of an earlier release, because another text has another name', async () => {
    const named = async (config: string) => {
      const manifests = await render('galley', '--values', valuesOf('galley', 'air-gapped'), '--set-string', config);
      const [own] = manifests.filter(({ kind, metadata }) => kind === 'ConfigMap' && !isHook(metadata.name));
      return { name: own?.metadata.name ?? '', pods: JSON.stringify(podsOf(manifests)) };
    };
    const [before, after] = [await named('config=sites: {}'), await named('config=sites: {} # changed')];
    expect(before.name).not.toBe(after.name);
    expect(before.pods).toContain(`"configMap":{"name":"${before.name}"}`);
    expect(after.pods).toContain(`"configMap":{"name":"${after.name}"}`);
  });

  it('starts without sites and so without a key, which only its own Admin API can make', async () => {
    const values = ['--values', valuesOf('galley', 'air-gapped'), '--set-string', 'config=sites: {}'];
    const args = podsOf(await render('galley', ...values)).map(({ spec }) => spec.containers[0]?.args.join(' '));
    expect(args.sort()).toEqual([
      ...['api --no-config', 'migrate', 'platform', 'platform-worker --no-agents', 'worker --no-config'],
    ]);
  });

  it('gives the operator token to the two processes that check it, and to no worker', async () => {
    const holders = podsOf(await renderKind('galley', 'cloud')).filter(({ spec }) =>
      spec.containers[0]?.env.some(({ name }) => name === 'OPERATOR_TOKEN'),
    );
    expect(holders.map(({ name }) => name).sort()).toEqual(['docs-galley-api', 'docs-galley-platform']);
  });
});

type Mistake = [chart: (typeof CHARTS)[number], set: string, error: string];
const mistakes: Mistake[] = [
  ['galley-deployment', 'staticExport.enabled=yes', "at '/staticExport/enabled': got string, want null or boolean"],
  ['galley-deployment', 'staticExport.bundleUrl=ftp://a', "at '/staticExport/bundleUrl'"],
  ['galley-deployment', 'staticExport.bundelUrl=x', "additional properties 'bundelUrl' not allowed"],
  ['galley-deployment', 'deployment.kind=on-premise', "value must be one of 'cloud', 'client-hosted', 'air-gapped'"],
  ['galley-deployment', 'ingress.enabled=true,ingress.hosts=null', "at '/ingress'"],
  ['galley-deployment', 'staticExport.bundleUrl=', 'staticExport.bundleUrl: expected a link'],
  ['galley-deployment', 'deployment.kind=air-gapped', 'staticExport.bundleUrl: expected a file link'],
  ['galley', 'temporal.address=nowhere', "at '/temporal/address'"],
  ['galley', 'temporal.address=', "temporal.address: expected host:port of Temporal's frontend"],
  ['galley', 'config=handbook', "at '/config'"],
  ['galley', 'api.replicas=2', "additional properties 'replicas' not allowed"],
  ['galley', 'secrets.database.name=', 'secrets.database.name: expected the name of a Secret with DATABASE_URL'],
  [
    'galley',
    'platform.enabled=false,agentWorker.enabled=false',
    'adminApi.url: expected the URL of a hosted Admin API',
  ],
  ['galley', 'agentWorker.egress=null', 'agentWorker.egress: expected rules'],
];

it.each(mistakes)('%s: %s is an error that says what was expected', async (chart, set, error) => {
  const failed = await render(chart, '--values', valuesOf(chart, 'cloud'), '--set', set).then(
    () => 'no error',
    (reason: unknown) => String(reason),
  );
  expect(failed).toContain(error);
});

it('a release of Kubernetes that drops what the sandbox of agents needs is refused', async () => {
  const failed = render('galley', '--values', valuesOf('galley', 'cloud'), '--kube-version', '1.32.9');
  await expect(failed).rejects.toThrow(
    'agentWorker.enabled: expected Kubernetes 1.33 or newer, because v1.32.9 drops what the sandbox of agents needs',
  );
});

it('each chart has these example values, a README and notes', () => {
  for (const chart of CHARTS) {
    expect(readdirSync(`deploy/helm/${chart}/ci`).sort()).toEqual(KINDS.map((kind) => `${kind}-values.yaml`));
    for (const file of ['README.md', 'templates/NOTES.txt'])
      expect(existsSync(`deploy/helm/${chart}/${file}`)).toBe(true);
  }
});
