import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/**
 * In place of helm: keeps the values and the description of one release, and what it was called with. It shows the
 * arguments; no cluster is used.
 */
const recorderIn = (folder: string): string => `#!${process.execPath}
const fs = require('node:fs');
const { parse, stringify } = require(${JSON.stringify(resolve('node_modules/yaml'))});
const at = (name) => ${JSON.stringify(folder)} + '/' + name;
const args = process.argv.slice(2);
const read = (name, or) => fs.existsSync(at(name)) ? fs.readFileSync(at(name), 'utf8') : or;
if (fs.existsSync(at('hang'))) { fs.writeFileSync(at('hanging'), ''); setInterval(() => {}, 1000); return; }
if (fs.existsSync(at('fail'))) { console.error('Error: Kubernetes cluster unreachable'); process.exit(1); }
fs.appendFileSync(at('calls'), JSON.stringify(args) + '\\n');
if (args[0] === 'status') console.log(JSON.stringify({ info: { description: read('description', 'Install complete') } }));
else if (args[0] === 'get') console.log(read('values', 'null'));
else {
  const [old, given] = [parse(read('values', '')) ?? {}, parse(fs.readFileSync(0, 'utf8'))];
  const values = { ...old, ...given, staticExport: { ...old.staticExport, ...given.staticExport } };
  fs.writeFileSync(at('values'), stringify(args.includes('--reuse-values') ? values : given));
  fs.writeFileSync(at('description'), args[args.indexOf('--description') + 1]);
}
`;

/** Puts it as `helm` into the folder, which must come first on the PATH; the files are there too. */
export async function writeHelmRecorder(folder: string): Promise<void> {
  await writeFile(join(folder, 'helm'), recorderIn(folder), { mode: 0o755 });
}
