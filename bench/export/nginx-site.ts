import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { findOnPath } from '../../embedded/find-on-path.ts';
import { spawnGuarded } from '../../embedded/guarded-child.ts';
import { freePort } from '../../test/helpers/free-port.ts';
import { waitFor } from '../../test/helpers/system/wait-for.ts';
import type { Lifetime } from '../with-cleanups.ts';
import { temporaryFolder } from '../with-cleanups.ts';
import { type CountingSite, countRequests } from './requests.ts';

/** Serves a folder with one nginx process on a free port of 127.0.0.1 and counts requests. */
export async function startNginxSite(folder: string, lifetime: Lifetime): Promise<CountingSite> {
  const home = await temporaryFolder(lifetime, 'galley-nginx-');
  const log = join(home, 'access.log');
  await writeFile(log, '');
  const { origin } = await startNginx({ folder, lifetime, home, log });
  return {
    origin,
    resetCounts: () => truncate(log),
    requestCounts: async () => countRequests(await readFile(log, 'utf8')),
  };
}

type NginxOptions = {
  folder: string;
  lifetime: Pick<Lifetime, 'add'>;
  home?: string;
  log?: string;
  /** Replaces the server that serves the folder. */
  serverOn?: (port: number) => string;
};

/** `pid` is that of a process above nginx. */
type RunningNginx = { origin: string; pid: number; readConfiguration(): Promise<void> };

/** Writes no access log if `log` is missing. Clients that accept gzip get the `.gz` next to a file. */
export async function startNginx(options: NginxOptions): Promise<RunningNginx> {
  const { folder, lifetime, log, serverOn = (port) => plainServer(folder, port) } = options;
  const nginx = (await findOnPath('nginx')) ?? (await findOnPath('nginx', '/usr/sbin'));
  if (nginx === undefined) throw new Error('nginx is not installed. Run: npm run setup:system');
  const home = options.home ?? (await temporaryFolder(lifetime, 'galley-nginx-'));
  const port = await freePort();
  await writeFile(join(home, 'nginx.conf'), configuration({ home, server: serverOn(port), log }));
  const child = spawnGuarded(nginx, ['-p', home, '-c', join(home, 'nginx.conf'), '-e', join(home, 'error.log')], {});
  lifetime.add(child.stop);
  const origin = `http://127.0.0.1:${port}`;
  let ended = false;
  void child.exited.then(() => {
    ended = true;
  });
  await waitFor(async () => ended || (await fetch(`${origin}/`)).ok, { describe: 'answered by nginx' });
  if (ended) throw new Error(`nginx exited during startup: ${child.output()}`);
  await readAll(folder);
  return {
    origin,
    pid: child.process.pid ?? 0,
    readConfiguration: async () => void process.kill(Number(await readFile(join(home, 'nginx.pid'), 'utf8')), 'SIGHUP'),
  };
}

/** Fills the page cache, so that no contender waits for the disk. */
async function readAll(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) await readFile(join(entry.parentPath, entry.name));
  }
}

type NginxSite = { home: string; server: string; log: string | undefined };

function configuration(site: NginxSite): string {
  return `
# Our folders are readable only by their owner. Without root, nginx just warns about this line.
user ${userInfo().username};
daemon off;
worker_processes 1;
pid ${site.home}/nginx.pid;
error_log ${site.home}/error.log;
events { worker_connections 4096; }
http {
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  log_format counted '$request_method $status $request_uri';
  access_log ${site.log === undefined ? 'off' : `${site.log} counted`};
  gzip_static on;
  gzip_vary on;
  client_body_temp_path ${site.home}/body;
  proxy_temp_path ${site.home}/proxy;
  fastcgi_temp_path ${site.home}/fastcgi;
  uwsgi_temp_path ${site.home}/uwsgi;
  scgi_temp_path ${site.home}/scgi;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 120s;
  keepalive_requests 1000000;
  ${site.server}
}
`;
}

function plainServer(folder: string, port: number): string {
  return `
  server {
    listen 127.0.0.1:${port} backlog=4096;
    root ${JSON.stringify(folder)};
    # An absolute redirect would bypass a proxy between a contender and this port.
    absolute_redirect off;
  }
`;
}
