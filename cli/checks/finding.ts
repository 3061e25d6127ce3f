import { plainText } from '../../base/plain-reason.ts';
import { paint, wrap } from '../output.ts';

/** What a check found. `fail`: it will not work; `warn`: it may not. */
export interface Finding {
  /** What was checked, such as `temporal` or `site docs`. */
  check: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
  /** How to repair it; null if it is ok. */
  fix: string | null;
}

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message, fix: null };
}

export function warn(check: string, message: string, fix: string): Finding {
  return { check, status: 'warn', message, fix };
}

export function fail(check: string, message: string, fix: string): Finding {
  return { check, status: 'fail', message, fix };
}

const COLORS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;
const INDENT = ' '.repeat(6);

/** The finding as lines of at most 80 columns, colored on a terminal. */
export function describeFinding({ check, status, message, fix }: Finding): string {
  const head = wrap(`${check}: ${plainText(message)}`, INDENT).slice(INDENT.length);
  const lines = `${paint(COLORS[status], status.padEnd(4))}  ${head}`;
  return fix === null ? lines : `${lines}\n${wrap(`→ ${fix}`, INDENT)}`;
}
