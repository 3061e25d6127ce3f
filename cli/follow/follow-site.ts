import { printJson, printLines } from '../output.ts';
import type { ShownSite } from '../sites/describe-site.ts';
import { poll } from './poll.ts';
import { eventLine, siteEvents } from './site-events.ts';

type Read = () => Promise<ShownSite>;

/**
 * Prints what happened at a site, oldest first. `follow`: also what happens, until Ctrl-C; as JSON, an object on each
 * line.
 */
export async function showLog(read: Read, { follow = false, json = false }): Promise<void> {
  const printed = new Set<string>();
  const look = (state: ShownSite): true | undefined => {
    const events = siteEvents(state);
    if (json && !follow) printJson({ site: state.site, events });
    else if (events.length === 0 && !follow) printLines([`Nothing happened at ${state.site} yet`]);
    else {
      const lines = events.map((event) => (json ? JSON.stringify(event) : eventLine(event)));
      printLines(lines.filter((line) => !printed.has(line)));
      for (const line of lines) printed.add(line);
    }
    return follow ? undefined : true;
  };
  await poll(read, look, '');
}

/** Prints a text again whenever it changes, until Ctrl-C; on a terminal in the same place. */
export async function watch<State>(read: () => Promise<State>, describe: (state: State) => string[]): Promise<never> {
  let shown = '';
  const look = (state: State): undefined => {
    const text = describe(state).join('\n');
    if (text === shown) return;
    if (process.stdout.isTTY) process.stdout.write('\u001b[2J\u001b[H');
    else if (shown !== '') printLines([' ']);
    printLines([text]);
    shown = text;
  };
  return await poll<State, never>(read, look, '');
}
