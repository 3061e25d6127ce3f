import { lstat, readdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROXY_SOCKET } from './relay.ts';

/** Paths inside the sandbox. The scratch disk holds the checkout, HOME and the temporary files. */
export const INSIDE = {
  scratch: '/scratch',
  home: '/scratch/home',
  tmp: '/scratch/tmp',
  collect: '/collect',
  repository: '/repository',
} as const;

/** Programs and libraries. On most systems all but /usr are links into it. */
const SYSTEM_FOLDERS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'] as const;

/**
 * Files of /etc that programs need and every user may read: names, certificates, settings of the loader and languages.
 */
const ETC = [
  'alternatives', 'ca-certificates', 'crypto-policies', 'fonts', 'gai.conf', 'host.conf', 'hosts', 'ld.so.cache',
  'ld.so.conf', 'ld.so.conf.d', 'localtime', 'magic', 'mime.types', 'nsswitch.conf', 'os-release', 'perl',
  'pki/ca-trust', 'pki/tls/cert.pem', 'pki/tls/certs', 'protocols', 'resolv.conf', 'services', 'ssl/cert.pem',
  'ssl/certs', 'ssl/openssl.cnf', 'terminfo', 'timezone',
] as const; // biome-ignore format: a list of names reads better in lines
const ETC_OF_LANGUAGES = /^(java-?\d.*|python3.*)$/;

/** Shared memory (/dev/shm). Not part of any other limit. */
const SHARED_MEMORY_BYTES = 64 * 1024 ** 2;

type MountOptions = {
  repositoryDir: string;
  /** The host's folder for the runner's own small files. */
  scratchDir: string;
  scratchSizeBytes: number;
  collectSizeBytes: number;
  readOnlyPaths: readonly string[];
  /** The host's path of the proxy's socket. */
  proxySocket: string | undefined;
};

/**
 * bubblewrap's arguments for the file system: an empty read-only root, the system's programs, the scratch disk and the
 * repository's objects. /home, /root, /var, /run and /sys don't exist.
 */
export async function mountArgs(options: MountOptions): Promise<string[]> {
  const { repositoryDir, scratchDir, scratchSizeBytes, collectSizeBytes, readOnlyPaths, proxySocket } = options;
  return [
    ...['--ro-bind', '/usr', '/usr'],
    ...(await Promise.all(SYSTEM_FOLDERS.map(systemFolder))).flat(),
    ...(await etcArgs(scratchDir)),
    ...['--proc', '/proc'],
    // A root worker owns these, and an owner needs no capability to write the kernel's settings.
    ...['sys', 'sysrq-trigger', 'mtrr'].flatMap((name) => ['--ro-bind-try', `/proc/${name}`, `/proc/${name}`]),
    ...['--dev', '/dev', '--size', `${SHARED_MEMORY_BYTES}`, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--size', `${scratchSizeBytes}`, '--tmpfs', INSIDE.scratch, '--dir', INSIDE.home, '--dir', INSIDE.tmp],
    ...['--symlink', INSIDE.tmp.slice(1), '/tmp', '--dir', '/var', '--symlink', `..${INSIDE.tmp}`, '/var/tmp'],
    ...['--size', `${collectSizeBytes}`, '--tmpfs', INSIDE.collect],
    ...['--ro-bind', join(repositoryDir, 'objects'), join(INSIDE.repository, 'objects')],
    ...['--ro-bind-try', join(repositoryDir, 'shallow'), join(INSIDE.repository, 'shallow')],
    ...(proxySocket === undefined ? [] : ['--ro-bind', proxySocket, PROXY_SOCKET]),
    ...readOnlyPaths.filter((path) => !isOfSystem(path)).flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--remount-ro', '/', '--chdir', '/'],
  ];
}

/** Whether a path is visible because the system's programs are. */
export function isOfSystem(path: string): boolean {
  return ['/usr', ...SYSTEM_FOLDERS].some((folder) => path === folder || path.startsWith(`${folder}/`));
}

async function systemFolder(path: string): Promise<string[]> {
  const info = await lstat(path).catch(() => undefined);
  if (info === undefined) return [];
  return info.isSymbolicLink() ? ['--symlink', await readlink(path), path] : ['--ro-bind', path, path];
}

async function etcArgs(scratchDir: string): Promise<string[]> {
  const languages = (await readdir('/etc')).filter((name) => ETC_OF_LANGUAGES.test(name));
  // Programs ask for their user's name, but mustn't see the machine's other users.
  const [passwd, group] = [join(scratchDir, 'passwd'), join(scratchDir, 'group')];
  const user = (id: number): string => `agent:x:${id}:${id}:agent:${INSIDE.home}:/bin/sh\n`;
  await writeFile(passwd, user(1000) + user(0).replace('agent', 'root'));
  await writeFile(group, 'agent:x:1000:\nroot:x:0:\n');
  return [
    ...[...ETC, ...languages].flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ...['--ro-bind', passwd, '/etc/passwd', '--ro-bind', group, '/etc/group'],
  ];
}
