import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { cacheFolder } from '../../embedded/cache-folder.ts';
import { BASELINE_COMMIT } from '../helpers/baseline.ts';
import { builtGalley } from '../helpers/system/built-product.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

/** The names by which the page and the values in the charts' `ci/` call Galley's image. */
const IMAGES = ['registry.example.com', 'registry.internal', 'registry.client.example'].map(
  (registry) => `${registry}/galley:0.2.0`,
);

const BASELINE_IMAGE = 'registry.example.com/galley:baseline';

const VOLUMES = 12;
/** Kept for the claims of the charts' `ci/`, whatever other claims come first. */
const RESERVED: Readonly<Record<number, string>> = { 10: 'values', 11: 'transfer' };

export interface Finished {
  code: number;
  /** Both streams, in the order of their lines. */
  output: string;
}

export interface Cluster {
  /** A folder for files that commands name. Commands run in it. */
  folder: string;
  /** For a command that is no script: `scripts/cluster/cluster run …`. */
  env: NodeJS.ProcessEnv;
  /** Runs a script of bash inside, with kubectl and helm. Rejects with its output if it fails. */
  run(script: string): Promise<string>;
  /** The same for a script that may fail. */
  attempt(script: string): Promise<Finished>;
  stop(): Promise<void>;
}

/**
 * Starts a Kubernetes of one node with Galley's image, the servers that it needs, and volumes that claims can have.
 * @param withBaseline also loads the image of the commit that upgrades start from
 * @throws Error that names the command to run if the programs are missing.
 */
export async function startCluster({ withBaseline = false } = {}): Promise<Cluster> {
  const installed = join(cacheFolder(), 'cluster');
  if (!existsSync(join(installed, 'debian.tar')))
    throw new Error(`${installed} has no cluster. Run: npm run setup:cluster`);
  const folder = await mkdtemp(join(tmpdir(), 'galley-cluster-'));
  const state = join(folder, 'state');
  const env = { ...process.env, INSTALLED: installed, FOLDER: state, HOME: folder };
  const script = join(process.cwd(), 'scripts', 'cluster', 'cluster');
  const attempt = async (text: string): Promise<Finished> => {
    const command = `cd ${folder} && ${text}`;
    const done = await execa(script, ['run', 'bash', '-ec', command], { env, all: true, reject: false });
    return { code: done.exitCode ?? 1, output: done.all };
  };
  const run = async (text: string): Promise<string> => {
    const { code, output } = await attempt(text);
    if (code !== 0) throw new Error(`${text}\nended with ${code}:\n${output}`);
    return output;
  };
  const stop = async (): Promise<void> => {
    await execa(script, ['down'], { env });
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await execa(script, ['up'], { env });
    for (const make of withBaseline ? [makeImage, makeBaselineImage] : [makeImage]) {
      await make(installed, join(folder, 'galley.tar'));
      await execa(script, ['load', join(folder, 'galley.tar')], { env });
      await rm(join(folder, 'galley.tar'));
    }
    await writeFile(join(folder, 'volumes.yaml'), await makeVolumes(state));
    await run(`kubectl apply --filename volumes.yaml --filename ${process.cwd()}/test/cluster/servers.yaml`);
    await run('kubectl wait --for=condition=ready pod --all --all-namespaces --timeout=300s');
    return { folder, env, run, attempt, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Prints the page that the deployment of the page serves. */
export const SERVED = 'kubectl get --raw /api/v1/namespaces/galley/services/docs-galley-deployment:http/proxy/';

/** Waits until pods that a rolling update replaced are gone. */
export async function settled({ run }: Cluster): Promise<void> {
  const replaced = async (): Promise<boolean> => {
    const pods = await run('kubectl --namespace galley get pods --output json');
    return !pods.includes('"deletionTimestamp"');
  };
  await waitFor(replaced, { describe: 'ended the replaced pods' });
}

/** The built product with its production dependencies, on the file system of `npm run setup:cluster`. */
async function makeImage(installed: string, archive: string): Promise<void> {
  await builtGalley();
  const root = process.cwd();
  const lock = createHash('sha256')
    .update(await readFile('package-lock.json'))
    .digest('hex');
  const modules = await once(join(installed, `modules-${lock.slice(0, 12)}`), async (work) => {
    for (const file of ['package.json', 'package-lock.json', '.npmrc']) await cp(file, join(work, file));
    await execa('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: work });
    return join(work, 'node_modules');
  });
  await writeImage({ names: IMAGES, archive, installed, root, modules });
}

/** The same for the commit that upgrades start from, with the tag `baseline`. */
async function makeBaselineImage(installed: string, archive: string): Promise<void> {
  const root = await once(join(installed, `galley-${BASELINE_COMMIT.slice(0, 12)}`), async (work) => {
    await execa({ shell: true })`git archive ${BASELINE_COMMIT} | tar -x -C ${work}`;
    const npm = (...args: string[]) =>
      execa('npm', [...args, '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: work });
    await npm('ci');
    await npm('run', 'build');
    await npm('prune', '--omit=dev');
    return work;
  });
  await writeImage({ names: [BASELINE_IMAGE], archive, installed, root, modules: join(root, 'node_modules') });
}

/** Makes a folder whole or not at all, and only if it isn't there. `fill` resolves with what becomes it. */
async function once(path: string, fill: (work: string) => Promise<string>): Promise<string> {
  if (existsSync(path)) return path;
  const work = await mkdtemp(join(dirname(path), '.installing-'));
  await rename(await fill(work), path);
  await rm(work, { recursive: true, force: true });
  return path;
}

type Image = { names: string[]; archive: string; installed: string; root: string; modules: string };

async function writeImage({ names, archive, installed, root, modules }: Image): Promise<void> {
  const layers = [join(installed, 'debian.tar'), `${modules}=/app/node_modules`];
  const own = ['package.json', 'examples', 'dist'].map((name) => `${join(root, name)}=/app/${name}`);
  await chmod(join(root, 'dist', 'cli', 'main.js'), 0o755);
  const program = join(process.cwd(), 'scripts', 'cluster', 'image.py');
  await execa('python3', [program, names.join(','), archive, '--entrypoint', 'galley', ...layers, ...own]);
}

/** Folders of the node, which any user may write, as the cluster has nothing that makes volumes. */
async function makeVolumes(state: string): Promise<string> {
  const volumes = Array.from({ length: VOLUMES }, (_, index) => join(state, 'volumes', String(index)));
  for (const path of volumes) {
    await mkdir(path, { recursive: true });
    await chmod(path, 0o777);
  }
  const storageClass = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
  };
  const volume = (path: string, index: number) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `volume-${index}` },
    spec: {
      capacity: { storage: '10Gi' },
      accessModes: ['ReadWriteOnce', 'ReadWriteMany'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'standard',
      hostPath: { path },
      ...(RESERVED[index] !== undefined && { claimRef: { namespace: 'ci', name: RESERVED[index] } }),
    },
  });
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [storageClass, ...volumes.map(volume)] });
}
