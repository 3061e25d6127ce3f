import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { createWordsRunner } from '../../../../../platform/activities/agent/runners/create-command-runner.ts';
import { startTestPlatform, type TestPlatform } from '../../../../helpers/platform-api.ts';
import { connectTemporal, type TestTemporal } from '../../../../helpers/temporal.ts';
import { createDatabase, type TestDatabase } from '../../../../helpers/test-database.ts';
import type { Findings, Scenario } from './network-main.ts';
import { everywhere, PROBE, type Target } from './network-probe.ts';
import { common, createRunnerFixture, logger, type RunnerFixture } from './runner-fixture.ts';

/** The error of a connection if the namespace has no route to the address, or no listener on it. */
const UNREACHABLE = expect.stringMatching(/^(ENETUNREACH|ECONNREFUSED|EADDRNOTAVAIL)$/);

let fixture: RunnerFixture;
let folder: string;
beforeAll(async () => {
  fixture = await createRunnerFixture();
  folder = await mkdtemp(join(tmpdir(), 'galley-network-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await fixture?.remove();
});

describe('the servers of this machine', () => {
  let temporal: TestTemporal;
  let database: TestDatabase;
  let platform: TestPlatform;
  beforeAll(async () => {
    temporal = await connectTemporal();
    database = await createDatabase();
    platform = await startTestPlatform(database);
  });
  afterAll(async () => {
    await platform?.stop();
    await database?.stop();
    await temporal?.stop();
  });

  it('can be reached outside of the sandbox but not inside: Temporal, PostgreSQL and the platform', async () => {
    const ports = [`http://${temporal.address}`, database.url, platform.baseUrl].map((url) =>
      Number(new URL(url).port),
    );
    const targets = ports.flatMap((port): Target[] => [
      ['127.0.0.1', port],
      ['localhost', port],
    ]);
    const input = JSON.stringify(targets);
    const { stdout } = await execa(process.execPath, ['-e', PROBE], { input });
    expect(JSON.parse(stdout)).toEqual(everywhere(targets, 'reached'));

    const words = ['node', '-e', PROBE];
    const { output } = await fixture.run(createWordsRunner({ ...common, words, model: 'probe', logger }), input);
    expect(JSON.parse(output)).toEqual(everywhere(targets, UNREACHABLE));
  });

  it('have no address inside, which only has its own loopback interface', async () => {
    expect(Object.keys(networkInterfaces())).toContain('lo');
    const words = ['node', '-p', 'JSON.stringify(Object.keys(os.networkInterfaces()))'];
    const { output } = await fixture.run(createWordsRunner({ ...common, words, model: 'probe', logger }), '');
    expect(JSON.parse(output)).toEqual(['lo']);
  });
});

describe('a network with a metadata service, private servers and the open internet', () => {
  const METADATA = ['169.254.169.254', 'fd00:ec2::254'];
  const [PRIVATE, PUBLIC, DATABASE] = ['10.1.2.3', '93.184.216.34', '93.184.216.35'];
  const HOSTS = [
    ['metadata.google.internal', '169.254.169.254'],
    ['private.example', PRIVATE],
    ['public.example', PUBLIC],
    ['rebound.example', '169.254.169.254'],
    ['rebound.example', PUBLIC],
    ['inside.example', PRIVATE],
    ['database.internal', DATABASE],
    ['alias.example', DATABASE],
  ] as const;
  const ADDRESSES = [...METADATA, PRIVATE, PUBLIC, DATABASE];
  const listeners = [...ADDRESSES, '127.0.0.1', '::1'].map((address): Target => [address, 8080]);
  listeners.push([PUBLIC, 8081]);
  const names = new Set(HOSTS.map(([name]) => name));
  const targets: Target[] = [...listeners, ...[...names, 'localhost'].map((name): Target => [name, 8080])];
  const network = { addresses: ADDRESSES, hosts: HOSTS, listeners, targets };

  describe('without an allow list', () => {
    let findings: Findings;
    beforeAll(async () => {
      findings = await probeIn({ ...network, network: { allow: [], refuse: [] } });
    });

    it('can be reached outside of the sandbox, by name and by address', () => {
      expect(findings.outside).toEqual(everywhere(targets, 'reached'));
    });

    it('cannot be reached inside, by name or by address', () => {
      expect(findings.inside).toEqual(everywhere(targets, UNREACHABLE));
      expect(findings.visited).toEqual([]);
    });
  });

  describe('with an allow list', () => {
    const allow = ['public.example:8080', 'rebound.example:8080', 'inside.example:8080', 'alias.example:8080'];
    const BY_PROXY = ['CONNECT', 'GET'];
    let findings: Findings;
    beforeAll(async () => {
      findings = await probeIn({ ...network, network: { allow, refuse: ['database.internal:8080'] } });
    });

    it('can be reached outside of the sandbox, by name and by address', () => {
      expect(findings.outside).toEqual(everywhere(targets, 'reached'));
    });

    it('can be reached only through the proxy, and only an allowed host, port and public address', () => {
      const refused = targets.map((target) => {
        const [host, port] = target;
        const named = `${host.includes(':') ? `[${host}]` : host}:${port}`.replaceAll(/[.[\]]/g, '\\$&');
        const answer = expect.stringMatching(new RegExp(`^403 ${named} .*AGENT_NETWORK_ALLOW`));
        return everywhere([target], answer, BY_PROXY);
      });
      expect(findings.inside).toEqual({
        ...everywhere(targets, UNREACHABLE),
        ...Object.assign({}, ...refused),
        ...everywhere([['public.example', 8080]], 'reached', BY_PROXY),
      });
      expect(findings.visited).toEqual([`${PUBLIC} 8080`]);
    });

    it('gives the reason of a refused request, and logs it without path and query', () => {
      const answers = (host: string) => [findings.inside[`CONNECT ${host}`], findings.inside[`GET ${host}`]];
      const reasons = {
        'private.example 8080': 'private.example:8080 is not in AGENT_NETWORK_ALLOW',
        '93.184.216.34 8080': '93.184.216.34:8080 is not in AGENT_NETWORK_ALLOW',
        'rebound.example 8080': 'rebound.example:8080 of AGENT_NETWORK_ALLOW is not at a public address',
        'alias.example 8080':
          'alias.example:8080 of AGENT_NETWORK_ALLOW is at an address that belongs to Galley itself',
      };
      for (const [host, reason] of Object.entries(reasons)) {
        expect(answers(host)).toEqual([`403 ${reason}`, `403 ${reason}`]);
        expect(findings.logged.split(reason)).toHaveLength(2);
      }
      expect(findings.logged).not.toContain('secret');
      expect(findings.logged).toContain('aj_0000000000000000');
    });
  });
});

type Network = Pick<Scenario, 'listeners' | 'targets' | 'network'> & {
  addresses: readonly string[];
  hosts: readonly (readonly [name: string, address: string])[];
};

/** Probes a network whose addresses are on the loopback of a new namespace, so this machine's network is unaffected. */
async function probeIn({ addresses, hosts, ...rest }: Network): Promise<Findings> {
  const hostsFile = join(folder, 'hosts');
  const lines = [['localhost', '127.0.0.1'], [hostname(), '127.0.0.1'], ...hosts];
  await writeFile(hostsFile, lines.map(([name, address]) => `${address} ${name}\n`).join(''));
  const setUp = `
    set -e; hosts=$1; addresses=$2; shift 2
    ip link set lo up; for address in $addresses; do ip address add "$address" dev lo; done
    mount --bind "$hosts" /etc/hosts
    exec "$@"`;
  const { repositoryDir, commit } = fixture;
  const main = join(process.cwd(), 'test/platform/activities/agent/runners/network-main.ts');
  const { stdout } = await execa('unshare', [
    ...['--user', '--map-root-user', '--net', '--mount', '--', 'sh', '-c', setUp, 'setUp'],
    ...[hostsFile, addresses.join(' '), process.execPath, '--import', './scripts/typescript.js', main],
    JSON.stringify({ ...rest, repositoryDir, commit, folder }),
  ]);
  return JSON.parse(stdout);
}
