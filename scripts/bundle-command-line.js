// After tsc: joins what `galley` loads into FOLDER/cli/main.js and FOLDER/chunks/, because loading 500 small files takes
// half of a command's start. Child processes and threads still load the files of tsc.
//   node scripts/bundle-command-line.js FOLDER
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

const dist = resolve(process.argv[2] ?? 'dist');

/** Packages that come in many files or are loaded by every command. The others stay in node_modules. */
const JOINED = [
  '@csstools/css-tokenizer',
  '@exodus/bytes',
  'acorn',
  'cborg',
  'commander',
  'es-module-lexer',
  'htmlparser2',
  'lru-cache',
  'p-limit',
  'parse5',
  'tar-stream',
  'undici',
  'whatwg-mimetype',
  'zod',
];

/** What our files import stays outside, unless it is joined. What a joined package imports is of its own version. */
const joinPackages = {
  name: 'join-packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
      const isOurs = importer.startsWith(`${dist}/`);
      const isJoined = JOINED.some((name) => path === name || path.startsWith(`${name}/`));
      // Loaded by a dynamic import, a joined package in CommonJS would only have a default export.
      return isOurs && (!isJoined || kind === 'dynamic-import') ? { external: true } : undefined;
    });
  },
};

/** A module's own URL stays that of its file, next to which it finds others. */
const keepUrls = {
  name: 'keep-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, async ({ path }) => {
      if (!path.startsWith(`${dist}/`)) return undefined;
      const code = await readFile(path, 'utf8');
      if (!code.includes('import.meta.url')) return undefined;
      // The chunks and main.js are each one folder below.
      const url = `new URL(${JSON.stringify(`../${relative(dist, path)}`)}, chunkUrl).href`;
      return { contents: `const moduleUrl = ${url};\n${code.replace(/^#!.*\n/, '')}` };
    });
  },
};

const sources = await readdir(join(dist, 'api/sources'));

await build({
  // `galley api` finds the webhooks' sources by their files.
  entryPoints: ['cli/main.js', ...sources.filter((file) => file.endsWith('.js')).map((file) => `api/sources/${file}`)],
  absWorkingDir: dist,
  outdir: dist,
  outbase: dist,
  chunkNames: 'chunks/[name]-[hash]',
  allowOverwrite: true,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  define: { 'import.meta.url': 'moduleUrl' },
  banner: {
    // For the packages in CommonJS.
    js: "import { createRequire as requireFrom } from 'node:module';\nconst chunkUrl = import.meta.url;\nconst require = requireFrom(chunkUrl);",
  },
  plugins: [joinPackages, keepUrls],
  logLevel: 'warning',
});
