import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from '../helpers/system/wait-for.ts';
import { type Cluster, SERVED, settled, startCluster } from './cluster.ts';
import { scriptsOfPage } from './page.ts';
import { publishing } from './publishing.ts';

/** The tests are one story, in their order: each goes on with the cluster that the one before left. */
let cluster: Cluster;
let run: Cluster['run'];
let attempt: Cluster['attempt'];

beforeAll(async () => {
  cluster = await startCluster();
  ({ run, attempt } = cluster);
});
afterAll(() => cluster?.stop());

const UPGRADE = 'helm upgrade galley deploy/helm/galley --namespace galley --values values.yaml';

const AGENTS =
  '--set agentWorker.enabled=true,agentWorker.egress[0].ports[0].port=7233,agentWorker.egress[0].ports[1].port=5432,agentWorker.egress[0].ports[2].port=7070,agentWorker.resources.requests.cpu=100m ' +
  `--set agentWorker.extraEnv[0].name=AGENT_COMMAND --set-string "agentWorker.extraEnv[0].value=sh -c 'id >README.md'"`;

/** The names of a kind of objects in a namespace. */
async function names(kind: string, namespace = 'galley', options = ''): Promise<string[]> {
  const output = await run(`kubectl --namespace ${namespace} get ${kind} ${options} --output name`);
  return output.split('\n').filter((line) => line.includes('/'));
}

const podsOf = (component: string): Promise<string[]> =>
  names('pods', 'galley', `--selector app.kubernetes.io/instance=galley,app.kubernetes.io/component=${component}`);

/** The page that each pod of the deployment serves. */
async function servedByPods(): Promise<string[]> {
  const pods = await names('pods', 'galley', '--selector app.kubernetes.io/instance=docs');
  const read = "fetch('http://127.0.0.1:3200/').then(async (page) => console.log(await page.text()))";
  return Promise.all(pods.map((pod) => run(`kubectl --namespace galley exec ${pod} -- node -e "${read}"`)));
}

describe('the page that leads to a served publish', () => {
  test('does so with its own commands, in their order', async () => {
    let output = '';
    for (const script of await scriptsOfPage(cluster.folder)) output = await run(script);
    expect(output).toContain('<h1>Edition 1.</h1>');
  });

  test('makes both replicas follow the next publish through the shared volume', async () => {
    await run('kubectl --namespace storage exec site -- node -e "fetch(\'http://127.0.0.1:8080/next\')"');
    await run('helm test galley --namespace galley');
    await waitFor(async () => (await servedByPods()).every((page) => page.includes('Edition 2.')), {
      describe: 'served the second edition in both pods',
    });
  });

  test('leads to a deployment whose deleted pod comes back with its last version while the link answers nothing', async () => {
    await run('kubectl --namespace storage delete service s3');
    await run('kubectl --namespace galley delete pod docs-galley-deployment-0');
    await run('kubectl --namespace galley wait --for=condition=ready pod docs-galley-deployment-0 --timeout=120s');
    expect(await servedByPods()).toEqual(Array.from({ length: 2 }, () => expect.stringContaining('Edition 2.')));
    await run(`kubectl apply --filename ${process.cwd()}/test/cluster/servers.yaml`);
  });
});

test('a link alone is served, without enabled', async () => {
  const values = await run('kubectl --namespace galley exec deploy/galley-worker -- cat /values/docs.yaml');
  const [, link = ''] = /bundleUrl: "?(\S+?)"?$/m.exec(values) ?? [];
  await writeFile(join(cluster.folder, 'link.yaml'), JSON.stringify({ staticExport: { bundleUrl: link } }));
  const release = 'helm install fixed deploy/helm/galley-deployment --namespace galley --values docs-values.yaml';
  await run(`${release} --values link.yaml --set valuesVolume.existingClaim=,persistence.enabled=false --wait`);
  const page = await run(SERVED.replace('docs-galley-deployment', 'fixed-galley-deployment'));
  expect(page).toContain('Edition 2.');
  await run('helm uninstall fixed --namespace galley --wait');
});

test('the network policy of a deployment lets through what it names, and nothing else', async () => {
  const reached = async (namespace: string, pod: string): Promise<string[]> => {
    const script = `for (const at of ['s3.storage:7070', 'postgres.storage:5432', 'galley-api.galley:3000']) {
      const [host, port] = at.split(':');
      require('node:net').connect({ host, port, timeout: 5000 }).on('connect', function () { console.log(at); this.destroy(); })
        .on('timeout', function () { this.destroy(); }).on('error', () => {});
    }`;
    const output = await run(
      `kubectl --namespace ${namespace} exec ${pod} -- node -e "${script.replaceAll('\n', ' ')}"`,
    );
    return output.split('\n').filter(Boolean).sort();
  };
  // A pod without a policy reaches all three as soon as their services are known.
  await waitFor(async () => (await reached('storage', 'site')).length === 3, { describe: 'reached all three' });
  expect(await reached('galley', 'docs-galley-deployment-0')).toEqual(['s3.storage:7070']);
});

describe('an upgrade that can not work changes nothing', () => {
  let before: string[];
  const ofRelease = '--selector app.kubernetes.io/instance=galley';
  const state = async (): Promise<string[]> => names('pods,configmaps', 'galley', ofRelease);
  const revision = async (): Promise<unknown> =>
    JSON.parse(await run('helm history galley --namespace galley --output json')).findLast(
      ({ status }: { status: string }) => status === 'deployed',
    ).revision;

  beforeAll(async () => {
    before = await state();
    const text = await readFile(join(cluster.folder, 'galley.yaml'), 'utf8');
    await writeFile(join(cluster.folder, 'wrong.yaml'), text.replace('projectId', 'projektId'));
    await writeFile(join(cluster.folder, 'changed.yaml'), `${text}# changed\n`);
    const url = 'postgres://galley:wrong@postgres.storage:5432/galley';
    await run(`kubectl --namespace galley create secret generic wrong-database --from-literal=url=${url}`);
  });
  afterEach(async () => {
    await run('kubectl --namespace galley delete jobs --all --wait');
    expect(await state()).toEqual(before);
    expect(await run(SERVED)).toContain('Edition 2.');
  });

  test('with a wrong galley.yaml, and the log says what is wrong', async () => {
    const { code, output } = await attempt(`${UPGRADE} --set-file config=wrong.yaml --wait`);
    expect([code, output]).toEqual([1, expect.stringContaining('job galley-config-check failed')]);
    const log = await run('kubectl --namespace galley logs job/galley-config-check');
    expect(log).toContain('sites.docs.projektId: unknown key: did you mean projectId?');
  });

  test('with a wrong password of the database, at once', async () => {
    const wrong = '--set secrets.database.name=wrong-database';
    const { code, output } = await attempt(`${UPGRADE} --set-file config=galley.yaml ${wrong} --wait`);
    expect([code, output]).toEqual([1, expect.stringContaining('job galley-migrations failed')]);
    const log = await run('kubectl --namespace galley logs job/galley-migrations');
    expect(log).toContain('password authentication failed for user "galley" (28P01)');
  });

  test('with a Secret that is missing, or lacks the key', async () => {
    for (const [set, error] of [
      ['name=absent', 'secrets.database: expected the name of a Secret in the namespace galley, which has no absent'],
      ['key=absent', 'secrets.database: expected a Secret with the key absent, which galley-database lacks'],
    ]) {
      const failed = await attempt(`${UPGRADE} --set-file config=galley.yaml --set secrets.database.${set}`);
      expect([failed.code, failed.output]).toEqual([1, expect.stringContaining(error ?? '')]);
    }
  });

  test('with agents, where Kubernetes or the namespace forbids their sandbox', async () => {
    const agents = `--set-file config=galley.yaml ${AGENTS}`;
    const failed = await attempt(`${UPGRADE} ${agents}`);
    expect(failed.output).toContain(
      'agentWorker.enabled: expected a namespace whose pod-security.kubernetes.io/enforce is',
    );
    const older = 'helm template galley deploy/helm/galley --values values.yaml --kube-version 1.32.9';
    const drops = 'agentWorker.enabled: expected Kubernetes 1.33 or newer, because v1.32.9 drops';
    expect((await attempt(`${older} ${AGENTS}`)).output).toContain(drops);
  });

  test('and one that fails later leaves the old pods their configuration, until a rollback', async () => {
    const good = await revision();
    const configurations = await names('configmaps');
    const broken = '--set api.extraEnv[0].name=PORT,api.extraEnv[0].value=none';
    const failed = await attempt(`${UPGRADE} --set-file config=changed.yaml ${broken} --wait --timeout 20s`);
    expect(failed.code).toBe(1);
    const old = before.filter((name) => name.startsWith('pod/galley-api'));
    await run(`kubectl --namespace galley delete ${old.join(' ')}`);
    const replicas = 'kubectl --namespace galley get deployment galley-api --output jsonpath={.status.readyReplicas}';
    await waitFor(async () => (await run(replicas)) === '2', { describe: 'had both old receivers again' });
    await run(`helm rollback galley ${good} --namespace galley --wait`);
    await settled(cluster);
    expect(await names('configmaps')).toEqual(configurations);
    // Pods of the rollback have other names.
    before = await state();
  });
});

describe('agents, in a namespace that allows their sandbox', () => {
  const label = 'kubectl label namespace galley --overwrite pod-security.kubernetes.io/enforce';
  const ready =
    'kubectl --namespace galley get deployment galley-agent-worker --output jsonpath={.status.readyReplicas}';
  /** Gives the pods a repository on the node, as a shared volume would, or takes it away. */
  const withRepository = async (wanted: boolean) => {
    const path = join(cluster.folder, 'repository');
    for (const name of ['platform', 'platform-worker', ...(wanted ? ['agent-worker'] : [])]) {
      const patched = wanted ? {} : { $patch: 'delete' };
      const volumeMounts = [{ ...patched, name: 'repository', mountPath: '/repository' }];
      const volumes = [{ ...patched, name: 'repository', hostPath: { path } }];
      const spec = JSON.stringify({ spec: { template: { spec: { volumes, containers: [{ name, volumeMounts }] } } } });
      await run(`kubectl --namespace galley patch deployment galley-${name} --patch '${spec}'`);
      await run(`kubectl --namespace galley rollout status deploy/galley-${name}`);
    }
  };

  beforeAll(async () => {
    const path = join(cluster.folder, 'repository');
    await run(`git init --quiet --initial-branch main sources && cd sources && echo Hello >README.md && git add . &&
      git -c user.name=docs -c user.email=docs@example.com commit --quiet --message first &&
      git clone --quiet --bare . ${path}/docs.git && chown --recursive 1000:1000 ${path}`);
    await run(`${label}=privileged`);
  });
  afterAll(async () => {
    await withRepository(false);
    await run(`${UPGRADE} --set-file config=galley.yaml --wait`);
    await run(`${label}=restricted`);
    await settled(cluster);
  });

  test('a worker without its sandbox never becomes ready, and says why', async () => {
    await run(`${UPGRADE} --set-file config=galley.yaml ${AGENTS}`);
    // As an API server before 1.33 does, without a word.
    const dropped = [
      { op: 'remove', path: '/spec/template/spec/hostUsers' },
      { op: 'remove', path: '/spec/template/spec/containers/0/securityContext/procMount' },
      { op: 'replace', path: '/spec/strategy', value: { type: 'Recreate' } },
    ];
    const patch = `kubectl --namespace galley patch deployment galley-agent-worker --type json --patch '${JSON.stringify(dropped)}'`;
    await run(patch);
    const log = 'kubectl --namespace galley logs deploy/galley-agent-worker --previous';
    await waitFor(
      async () => (await attempt(log)).output.includes('AGENT_SANDBOX: Agents run in a sandbox of bubblewrap'),
      {
        describe: 'ended with the reason',
      },
    );
    expect(await run(ready)).toBe('');
    await run('kubectl --namespace galley delete deployment galley-agent-worker');
  });

  test('a job changes the repository, and its pull request is open', async () => {
    await run(`${UPGRADE} --set-file config=galley.yaml ${AGENTS}`);
    await withRepository(true);
    const repository = '--project prj_docs --repository file:///repository/docs.git';
    await run(`kubectl --namespace galley exec deploy/galley-platform -- galley projects set ${repository}`);
    const ask = async (path: string, init: string): Promise<{ id: string; status: string; prLink: string | null }> => {
      const headers =
        "headers: { authorization: 'Bearer ' + process.env.ADMIN_API_KEY, 'content-type': 'application/json' }";
      const script = `fetch(process.env.ADMIN_API_URL + '${path}', { ${headers}, ${init} }).then(async (it) => console.log(await it.text()))`;
      return JSON.parse(await run(`kubectl --namespace galley exec deploy/galley-api -- node -e "${script}"`));
    };
    const { id } = await ask('/v2/agent/prj_docs/job', `method: 'POST', body: JSON.stringify({ prompt: 'Greet.' })`);
    let job = await ask(`/v2/agent/prj_docs/job/${id}`, '');
    await waitFor(
      async () => {
        job = await ask(`/v2/agent/prj_docs/job/${id}`, '');
        return job.status !== 'active';
      },
      { describe: 'ended the job' },
    );
    expect(job).toMatchObject({ status: 'completed', prLink: expect.stringContaining('/pulls/') });
    const git = "git -c safe.directory='*' -C repository/docs.git";
    const branches = await run(`${git} for-each-ref --format '%(refname)'`);
    const [branch = ''] = branches.split('\n').filter((name) => name !== 'refs/heads/main');
    expect(await run(`${git} show ${branch}:README.md`)).toMatch(/^uid=1000\(/);
  });
});

describe('under publishes', () => {
  test.each([
    [
      'a rolling update of api and worker',
      'kubectl --namespace galley rollout restart deploy/galley-api deploy/galley-worker',
    ],
    ['an upgrade of the chart', `${UPGRADE} --set-file config=galley.yaml --set podAnnotations.changed=yes --wait`],
  ])('%s answers every delivery', async (_what, command) => {
    const outcomes = await publishing(cluster, async () => {
      await run(command);
      await run('kubectl --namespace galley rollout status deploy/galley-api');
      await run('kubectl --namespace galley rollout status deploy/galley-worker');
      await settled(cluster);
    });
    process.stdout.write(`${command}: ${JSON.stringify(outcomes)}\n`);
    // 503: Temporal didn't acknowledge it in time, as on any busy machine; its sender repeats it.
    const { 202: accepted = 0, 503: _repeated, ...others } = outcomes;
    expect(accepted).toBeGreaterThan(0);
    expect(others).toEqual({});
  });

  test('of two receivers, a drained node evicts one at a time', async () => {
    const evict = async (pod: string): Promise<string> => {
      const name = pod.replace('pod/', '');
      const metadata = { name, namespace: 'galley' };
      const eviction = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata });
      const path = `/api/v1/namespaces/galley/pods/${name}/eviction`;
      return (await attempt(`kubectl create --raw ${path} --filename - <<<'${eviction}'`)).output;
    };
    const [first = '', second = ''] = await podsOf('api');
    expect(await evict(first)).toContain('Success');
    expect(await evict(second)).toContain("Cannot evict pod as it would violate the pod's disruption budget");
    await run('kubectl --namespace galley rollout status deploy/galley-api');
    await settled(cluster);
  });
});

test('nothing is left but secrets and claims when both are uninstalled', async () => {
  await run('helm uninstall docs galley --namespace galley --wait');
  await waitFor(async () => (await names('pods')).length === 0, { describe: 'ended its pods' });
  const kinds =
    'deployments,statefulsets,replicasets,pods,services,configmaps,jobs,poddisruptionbudgets,networkpolicies';
  const rest = (await names(`${kinds},persistentvolumeclaims`)).filter((name) => !name.includes('kube-root-ca'));
  expect(rest.sort()).toEqual([
    'persistentvolumeclaim/data-docs-galley-deployment-0',
    'persistentvolumeclaim/data-docs-galley-deployment-1',
    'persistentvolumeclaim/galley-values',
  ]);
});

describe("the values in the charts' ci/", () => {
  const namespaced = '--namespace ci';
  const secrets = {
    'galley-operator': ['token', 'operator-token'],
    'galley-sites': ['PUBLISH_SECRET', 'SANITY_SECRET', 'CONTENTFUL_SECRET', 'GITHUB_WEBHOOK_SECRET', 'GITHUB_TOKEN'],
    'galley-platform': ['FORGE_TOKEN'],
    temporal: ['api-key'],
    registry: ['unused'],
  };

  beforeAll(async () => {
    await run('kubectl create namespace ci');
    await run('kubectl label namespace ci pod-security.kubernetes.io/enforce=restricted');
    for (const [name, keys] of Object.entries(secrets)) {
      const values = keys.map((key) => `--from-literal=${key}=${'x'.repeat(64)}`).join(' ');
      await run(`kubectl ${namespaced} create secret generic ${name} ${values}`);
    }
    const sites = { ADMIN_API_KEY: 'x'.repeat(40), SMTP_URL: 'smtp://mail.example:25' };
    await run(`kubectl ${namespaced} patch secret galley-sites --patch '${JSON.stringify({ stringData: sites })}'`);
    for (const [name, value] of [
      ['galley-encryption', `key=${Buffer.alloc(32, 1).toString('base64')}`],
      ['galley-database', 'url=postgres://galley:galley-password@postgres.storage:5432/galley'],
      ['galley-objects', 'access-key-id=galley --from-literal=secret-access-key=galley-secret-key'],
      ['docs-readers', 'basic-auth=reader:password'],
    ])
      await run(`kubectl ${namespaced} create secret generic ${name} --from-literal=${value}`);
    await run(`kubectl ${namespaced} create serviceaccount galley`);
    for (const [name, volumeName] of [
      ['values', 'volume-10'],
      ['transfer', 'volume-11'],
    ]) {
      const resources = { requests: { storage: '1Gi' } };
      const spec = { accessModes: ['ReadWriteMany'], volumeName, resources };
      const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec };
      await run(`kubectl ${namespaced} apply --filename - <<<'${JSON.stringify(claim)}'`);
    }
    const bundle = "find /data -path '*bundle*.tar.gz' -type f | head -1 | xargs cat";
    const folder = join(cluster.folder, 'state/volumes/11/docs');
    await run(`mkdir ${folder} && kubectl --namespace storage exec s3 -- sh -c "${bundle}" >${folder}/bundle.tar.gz`);
  });

  test.each([
    // Everything that these name is in this cluster.
    ['galley-deployment', 'air-gapped', '--wait'],
    ['galley', 'air-gapped', '--wait'],
    ['galley-deployment', 'client-hosted', ''],
    ['galley-deployment', 'cloud', ''],
    ['galley', 'client-hosted', ''],
    ['galley', 'cloud', '--set agentWorker.enabled=false'],
  ])('install, upgrade, roll back and uninstall %s for %s', async (chart, kind, options) => {
    const left = await names('all,configmaps,secrets,networkpolicies,poddisruptionbudgets,ingresses', 'ci');
    const values = `deploy/helm/${chart} ${namespaced} --values deploy/helm/${chart}/ci/${kind}-values.yaml ${options}`;
    await run(`helm install trial ${values}`);
    await run(`helm upgrade trial ${values} --set podAnnotations.changed=yes`);
    await run(`helm rollback trial 1 ${namespaced} ${options === '--wait' ? options : ''}`);
    const events = await run(`kubectl ${namespaced} get events --output jsonpath='{.items[*].message}'`);
    expect(events).not.toContain('violates PodSecurity');
    await run(`helm uninstall trial ${namespaced} --wait`);
    await waitFor(async () => (await names('pods', 'ci')).length === 0, { describe: 'ended its pods' });
    expect(await names('all,configmaps,secrets,networkpolicies,poddisruptionbudgets,ingresses', 'ci')).toEqual(left);
  });
});
