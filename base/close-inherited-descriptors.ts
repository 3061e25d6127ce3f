import { closeSync, readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Closes the descriptors above 2 that whoever started this process left open: git, Chromium or an agent could write to
 * the files behind them. Node and its libraries open their own so that children don't get them, but Node doesn't change
 * all that it inherits. What the command line names stays open, such as `/dev/fd/63` for a shell's `<(command)`. Linux
 * only: elsewhere nothing says which descriptors children get.
 */
export function closeInheritedDescriptors(argv: readonly string[]): void {
  const named = argv.map((word) => /(?:^|=)\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(word)?.[1]);
  for (const name of process.platform === 'linux' ? readdirSync('/proc/self/fdinfo') : []) {
    if (Number(name) > 2 && !named.includes(name) && isForChildren(name)) closeSync(Number(name));
  }
}

function isForChildren(descriptor: string): boolean {
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    const [, flags] = /^flags:\s*([0-7]+)$/m.exec(info) ?? [];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The listing's own descriptor is closed by now.
    return false;
  }
}
