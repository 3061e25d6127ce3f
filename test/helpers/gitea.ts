import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { access, chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { cacheFolder } from '../../embedded/cache-folder.ts';
import { freePort } from './free-port.ts';
import { LESS_COLLECTING } from './less-collecting.ts';
import { locateRealTool } from './real-tool.ts';
import { waitFor } from './system/wait-for.ts';
import { temporaryFolderOf, unprivileged } from './unprivileged-user.ts';
import { unsyncedFolder } from './unsynced-folder.ts';

const run = promisify(execFile);

export type GiteaUser = {
  login: string;
  mail: string;
  password: string;
  /** Has all rights of its owner. */
  token: string;
};

export type TestGitea = {
  /** The URL of the web pages. */
  url: string;
  admin: GiteaUser;
  createUser(login: string, options?: { hidesMail?: boolean }): Promise<GiteaUser>;
  /** Creates a token with only these scopes, such as `read:user`. */
  createToken(user: GiteaUser, scopes: readonly string[]): Promise<string>;
  /** Calls the API as this user and fails unless it succeeds. */
  call(user: GiteaUser, method: string, path: string, body?: unknown): Promise<unknown>;
  stop(): Promise<void>;
};

/**
 * A real Gitea on a free port, with SQLite and repositories in a temporary folder. It refuses to run as root, so root runs
 * it as the user `nobody`, from copies that this user can read. With `signsMerges`, it has a key for the commits that it makes
 * when a pull request is merged.
 */
export async function startGitea(options: { signsMerges?: boolean } = {}): Promise<TestGitea> {
  const built = await locateRealTool('gitea');
  const templates = join(cacheFolder(), 'gitea-static');
  await access(templates).catch(() => {
    throw new Error('The templates of gitea are missing. Run: npm run setup:system');
  });
  const user = await unprivileged();
  const folder = await temporaryFolderOf(user, 'galley-gitea-');
  const program = join(folder, 'gitea');
  await copyFile(built, program);
  await chmod(program, 0o755);
  await run('cp', ['-R', templates, join(folder, 'static')]);
  await mkdir(join(folder, 'work'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const work = join(folder, 'work');
  const unsynced = await unsyncedFolder('galley-gitea-');
  const signingKey = join(work, 'signing-key');
  if (options.signsMerges === true) await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', signingKey]);
  const lines = options.signsMerges === true ? signing(`${signingKey}.pub`) : '';
  await writeFile(join(work, 'app.ini'), `${settings(folder, join(unsynced, 'gitea.db'), port)}${lines}`);
  await chmod(folder, 0o755);
  if (user) await run('chown', ['-R', `${user.uid}:${user.gid}`, work, unsynced]);

  // Each push runs the same program three more times, as git hooks.
  const env = { PATH: process.env.PATH ?? '', HOME: work, LC_ALL: 'C.UTF-8', ...LESS_COLLECTING };
  const as = { ...user, cwd: work, env };
  const command = (...args: string[]) => run(program, [...args, '--config', join(work, 'app.ini')], as);
  let child: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    if (child && child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
    // Its git processes may still be writing.
    for (const made of [folder, unsynced]) await rm(made, { recursive: true, force: true, maxRetries: 5 });
  };

  try {
    await command('migrate');
    child = spawn(program, ['web', '--config', join(work, 'app.ini')], { ...as, stdio: 'ignore' });
    const isHealthy = async () => (await fetch(`${url}/api/healthz`)).ok;
    await waitFor(isHealthy, { describe: 'got a healthy response from Gitea' });
    const admin = { login: 'root-of-gitea', mail: 'root@example.org', password: randomBytes(12).toString('hex') };
    const made = ['--username', admin.login, '--password', admin.password, '--email', admin.mail];
    await command('admin', 'user', 'create', '--admin', '--must-change-password=false', ...made);
    const rights = ['--username', admin.login, '--scopes', 'all', '--raw'];
    const { stdout } = await command('admin', 'user', 'generate-access-token', ...rights);
    return { ...accounts(url, { ...admin, token: stdout.trim() }), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function accounts(url: string, admin: GiteaUser): Omit<TestGitea, 'stop'> {
  const call = (user: GiteaUser, method: string, path: string, body?: unknown) =>
    callApi(`${url}/api/v1${path}`, method, `token ${user.token}`, body);

  async function createToken({ login, password }: Omit<GiteaUser, 'token'>, scopes: readonly string[]) {
    const basic = `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`;
    const name = randomBytes(4).toString('hex');
    const made = await callApi(`${url}/api/v1/users/${login}/tokens`, 'POST', basic, { name, scopes });
    return z.object({ sha1: z.string() }).parse(made).sha1;
  }

  return {
    url,
    admin,
    call,
    createToken,
    async createUser(login, { hidesMail = false } = {}) {
      const user = { login, mail: `${login}@example.org`, password: randomBytes(12).toString('hex') };
      const body = { username: login, email: user.mail, password: user.password, must_change_password: false };
      await call(admin, 'POST', '/admin/users', body);
      const made = { ...user, token: await createToken(user, ['all']) };
      await call(made, 'PATCH', '/user/settings', { hide_email: hidesMail });
      return made;
    },
  };
}

async function callApi(url: string, method: string, authorization: string, body?: unknown): Promise<unknown> {
  const headers = { authorization, 'content-type': 'application/json' };
  const response = await fetch(url, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return text === '' ? null : JSON.parse(text);
}

/** No mail, sign-up, actions, indexer or outgoing requests. */
function settings(folder: string, database: string, port: number): string {
  const secret = () => randomBytes(32).toString('hex');
  return `
APP_NAME = Gitea
RUN_MODE = prod
WORK_PATH = ${folder}/work
[server]
PROTOCOL = http
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = http://127.0.0.1:${port}/
STATIC_ROOT_PATH = ${folder}/static
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = ${database}
[security]
INSTALL_LOCK = true
SECRET_KEY = ${secret()}
PASSWORD_HASH_ALGO = pbkdf2_v1
[service]
DISABLE_REGISTRATION = true
[webhook]
ALLOWED_HOST_LIST = loopback
[actions]
ENABLED = false
[api]
; Fewer items per page than clients request, as an operator may set.
MAX_RESPONSE_ITEMS = 6
[cron]
ENABLED = false
[git.config]
core.fsync = none
[log]
MODE = file
LEVEL = warn
[repository]
DEFAULT_BRANCH = main
`;
}

/** As docs/guide/agents.md recommends. */
const signing = (publicKey: string): string => `
[repository.signing]
SIGNING_KEY = ${publicKey}
SIGNING_FORMAT = ssh
SIGNING_NAME = Gitea
SIGNING_EMAIL = gitea@example.org
MERGES = commitssigned
`;
