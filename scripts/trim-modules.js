// For the image, after `npm prune --omit=dev`: leaves in node_modules only what runs there, on this platform.
//   node scripts/trim-modules.js [FOLDER OF package.json]
// It removes files of the folder it is given: the image's build runs it on a copy.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const root = resolve(process.argv[2] ?? '.');

/** Needed only to bundle workflow code, which the build has done, beside packages that only hold types. */
const NOT_RUN = new Set([
  '@swc/core',
  'memfs',
  'source-map-loader',
  'swc-loader',
  'unionfs',
  'webpack',
  'highlight.js',
]);
const onlyTypes = (name) => name.startsWith('@types/') || /^@octokit\/openapi-(webhooks-)?types$/.test(name);

/** Loaded with a worker for its bundler; without webpack it can't be. What workers read of it stays. */
const BUNDLER = 'node_modules/@temporalio/worker/lib/workflow/bundler.js';
const NO_BUNDLER = `exports.defaultWorkflowInterceptorModules = [require.resolve('../workflow-log-interceptor')];
exports.bundleWorkflowCode = () => Promise.reject(new Error('Workflow code is bundled when the image is built'));
`;

/** Parts of packages that nothing reads at run time. */
const UNREAD = [
  'node_modules/@temporalio/core-bridge/sdk-core',
  'node_modules/@temporalio/core-bridge/src',
  'node_modules/@temporalio/core-bridge/bridge-macros',
  'node_modules/playwright-core/lib/vite',
  'node_modules/bintrees/test',
  'node_modules/rxjs/dist/bundles',
  'node_modules/rxjs/dist/esm',
  'node_modules/rxjs/dist/esm5',
];
/** Types, sources and documents; what OpenTelemetry makes for browsers' bundlers. */
const UNREAD_FILES = /\.(?:[cm]?ts|map|md|markdown|flow|tsbuildinfo)$|^@opentelemetry\/[^/]+\/build\/es(?:m|next)\//i;

const packageOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** Where a package in `folder` finds another, as Node does. */
function find(folder, name) {
  for (let at = folder; at.startsWith(root); at = dirname(at)) {
    const found = join(at, 'node_modules', name);
    if (existsSync(join(found, 'package.json'))) return found;
    if (at === root) return undefined;
  }
}

/** Every package that the product needs, each in its folder. Peers that are optional don't count: the product lists its own. */
function needed(folder, found = new Set()) {
  const {
    dependencies = {},
    optionalDependencies = {},
    peerDependencies = {},
    peerDependenciesMeta = {},
  } = packageOf(folder);
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  for (const name of new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers])) {
    if (NOT_RUN.has(name) || onlyTypes(name)) continue;
    const at = find(folder, name);
    if (at === undefined || found.has(at)) continue;
    found.add(at);
    needed(at, found);
  }
  return found;
}

/** Takes what was removed out of the list that `npm sbom` made. */
function listContents() {
  const file = join(root, 'sbom.spdx.json');
  if (!existsSync(file)) return;
  const list = JSON.parse(readFileSync(file, 'utf8'));
  // By version: the list has one of several copies.
  const there = new Set([root, ...kept].map(packageOf).map(({ name, version }) => `${name}@${version}`));
  const isThere = ({ name, versionInfo }) => there.has(`${name}@${versionInfo}`);
  const gone = new Set(list.packages.filter((each) => !isThere(each)).map(({ SPDXID }) => SPDXID));
  list.packages = list.packages.filter(({ SPDXID }) => !gone.has(SPDXID));
  list.relationships = list.relationships.filter(
    ({ spdxElementId, relatedSpdxElement }) => !gone.has(spdxElementId) && !gone.has(relatedSpdxElement),
  );
  writeFileSync(file, JSON.stringify(list));
}

/** Removes each package below `folder` that isn't in `kept`. */
function removeOthers(folder, kept) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const at = join(folder, entry.name);
    if (entry.name.startsWith('@')) removeOthers(at, kept);
    else if (!kept.has(at)) rmSync(at, { recursive: true });
    else if (existsSync(join(at, 'node_modules'))) removeOthers(join(at, 'node_modules'), kept);
  }
}

const kept = needed(root);
removeOthers(join(root, 'node_modules'), kept);
listContents();

// Native parts of other platforms, by the folders of prebuildify and of Temporal.
const own = `${process.platform}-${process.arch}`;
for (const path of readdirSync(join(root, 'node_modules'), { recursive: true }))
  if (/(?:^|\/)prebuilds\/[^/]+$/.test(path) && !path.endsWith(`/${own}`))
    rmSync(join(root, 'node_modules', path), { recursive: true });
const { getPrebuiltTargetName } = await import(join(root, 'node_modules/@temporalio/core-bridge/common.js'));
const releases = join(root, 'node_modules/@temporalio/core-bridge/releases');
for (const name of readdirSync(releases))
  if (name !== getPrebuiltTargetName()) rmSync(join(releases, name), { recursive: true });

if (!existsSync(join(root, BUNDLER))) throw new Error(`${BUNDLER}: expected the bundler of @temporalio/worker`);
writeFileSync(join(root, BUNDLER), NO_BUNDLER);
for (const path of UNREAD) rmSync(join(root, path), { recursive: true });
for (const folder of ['dist', 'node_modules'])
  for (const file of readdirSync(join(root, folder), { recursive: true }))
    if (UNREAD_FILES.test(file)) rmSync(join(root, folder, file), { force: true, recursive: true });
