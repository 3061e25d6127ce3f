import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildSite, type Generator } from '../exporter/sites/build-site.ts';
import { type StaticHostOptions, staticHost } from '../exporter/sites/static-host.ts';
import { type HttpSite, startHttpSite } from '../helpers/http-site.ts';
import { startBlog } from './blog-site.ts';
import { swaggerUiSite } from './swagger-ui-site.ts';

/** Starts the origin of a site of each kind that `--prove` is shown on; `folder` is for its files. */
export const PROOF_SITES: Readonly<Record<string, (folder: string) => Promise<HttpSite>>> = {
  postgresql: manual('/usr/share/doc/postgresql-doc-15/html'),
  'part of postgresql': manual('/usr/share/doc/postgresql-doc-15/html', /^\/((index|tutorial.*)\.html|.*\.css)?$/),
  python: manual('/usr/share/doc/python3.11/html'),
  'part of python': manual('/usr/share/doc/python3.11/html', /^\/(index\.html|_static\/.*|_images\/.*|tutorial\/.*)?$/),
  openjdk: manual('/usr/share/doc/openjdk-17-jre-headless/api'),
  git: manual('/usr/share/doc/git/html'),
  vitepress: built('vitepress', { cleanUrls: true }),
  docusaurus: built('docusaurus', { redirectFolders: true }),
  starlight: built('starlight', { redirectFolders: true }),
  next: built('next', { cleanUrls: true }),
  'docs of Galley': async (folder) => {
    const program = join(process.cwd(), 'node_modules/vitepress/bin/vitepress.js');
    const out = join(folder, 'docs');
    await promisify(execFile)(process.execPath, [program, 'build', 'docs', '--outDir', out], {
      maxBuffer: 64 * 1024 ** 2,
    });
    return await startHttpSite(staticHost(out, { cleanUrls: true }));
  },
  blog: startBlog,
  'Swagger UI': async () => await startHttpSite(swaggerUiSite()),
};

/** `part`: the paths that exist. */
function manual(folder: string, part = /^/): () => Promise<HttpSite> {
  return async () => {
    if (!existsSync(folder)) throw new Error(`${folder} is missing. Run: npm run setup:system`);
    const whole = staticHost(await realpath(folder));
    return await startHttpSite((request, response) => {
      if (part.test((request.url ?? '').replace(/\?.*/, ''))) whole(request, response);
      else response.writeHead(404).end();
    });
  };
}

function built(generator: Generator, options: StaticHostOptions): (folder: string) => Promise<HttpSite> {
  return async (folder) => await startHttpSite(staticHost(await buildSite(folder, generator, options), options));
}
