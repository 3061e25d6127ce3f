import { execa } from 'execa';

type Options = { env?: Record<string, string>; cwd?: string; input?: string };

/** Runs docker; the output of a command that fails is in the error. */
export async function docker(args: readonly string[], options: Options = {}): Promise<string> {
  const { stdout } = await execa('docker', args, options);
  return stdout;
}

/** Runs a shell command in a new container of Galley's image. */
export async function inImage(command: string, image = 'galley:local'): Promise<string> {
  return await docker(['run', '--rm', '--network', 'none', '--entrypoint', 'sh', image, '-c', command]);
}
