import { delimiter, dirname, isAbsolute } from 'node:path';
import { DEFAULT_PATH, findCommand, pathsOfProgram } from './find-command.ts';
import type { SandboxOptions } from './runner-limits.ts';

type Reach = Pick<SandboxOptions, 'environment' | 'readOnlyPaths'>;

/**
 * What a command needs in order to start: a PATH that ends with Node's own folder, and read access to the folders of
 * the program and of Node. Undefined if the program isn't on this machine. A path within the checkout is resolved
 * there.
 */
export async function reachProgram(program: string, { environment, readOnlyPaths }: Reach): Promise<Reach | undefined> {
  const path = environment.PATH ?? DEFAULT_PATH;
  const folders = path.split(delimiter);
  const nodeFolder = dirname(process.execPath);
  const isOfCheckout = program.includes('/') && !isAbsolute(program);
  const file = isOfCheckout ? undefined : await findCommand(program, path);
  if (file === undefined && !isOfCheckout) return undefined;
  const needed = await Promise.all([process.execPath, ...(file === undefined ? [] : [file])].map(pathsOfProgram));
  return {
    environment: { ...environment, PATH: folders.includes(nodeFolder) ? path : [path, nodeFolder].join(delimiter) },
    readOnlyPaths: [...new Set([...needed.flat(), ...readOnlyPaths])],
  };
}
