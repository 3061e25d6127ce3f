import { COLUMNS, printLines } from '../output.ts';

const QUIET_MS = 5_000;

/** What a command that follows something prints. */
export interface Screen {
  /** A line that stays. */
  line(text: string): void;
  /** What happens now: the last line of a terminal; elsewhere a line at each change, at most every 5 s. */
  status(text: string): void;
  /** Removes the last line. */
  end(): void;
}

/** `silent`: standard output is for JSON, so what happens goes to standard error. */
export function createScreen({ silent = false }: { silent?: boolean } = {}): Screen {
  const stream = silent ? process.stderr : process.stdout;
  let shown = '';
  let shownAt = 0;
  const clear = (): void => {
    if (stream.isTTY && shown !== '') stream.write('\r\u001b[K');
  };
  return {
    line(text) {
      clear();
      shown = '';
      if (silent) stream.write(`${text}\n`);
      else printLines([text]);
    },
    status(text) {
      if (text === shown) return;
      if (stream.isTTY) {
        clear();
        stream.write(text.slice(0, (stream.columns ?? COLUMNS) - 1));
      } else {
        if (Date.now() - shownAt < QUIET_MS) return;
        stream.write(`${text}\n`);
      }
      shown = text;
      shownAt = Date.now();
    },
    end() {
      clear();
      shown = '';
    },
  };
}
