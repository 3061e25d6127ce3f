import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { announcePins } from '../../worker/announce-pins.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

/** The content of a values file at each poll (no text means no file), and whether Temporal is down then. */
type Look = { text?: string; temporalAway?: boolean };

const folder = emptiedFolder();

function pinnedTo(version: string): string {
  return `staticExport:\n  enabled: true\n  version: ${version}\n`;
}
const unpinned = 'staticExport:\n  enabled: true\n';
const off = 'staticExport:\n  enabled: false\n';

/** The signals that were sent after each poll. */
async function announced(looks: readonly Look[]): Promise<string[][]> {
  const valuesFile = join(folder, 'values.yaml');
  const signals: string[][] = [];
  let at = -1;
  const next = async (): Promise<void> => {
    const text = looks[++at]?.text;
    signals.push([]);
    if (text !== undefined) await writeFile(valuesFile, text);
  };
  const getHandle = (workflowId: string) => ({
    async signal(name: string) {
      if (looks[at]?.temporalAway) throw new Error('Temporal is down');
      signals.at(-1)?.push(`${name} to ${workflowId}`);
    },
  });
  await next();
  await announcePins({
    client: { workflow: { getHandle } },
    logger: pino({ level: 'silent' }),
    files: [{ site: 'docs', valuesFile }],
    ended: () => at >= looks.length,
    sleep: next,
  });
  return signals.slice(0, looks.length);
}

describe('a watched values file', () => {
  const signal = ['configChanged to export:docs'];

  it.each<[string, Look[], string[][]]>([
    [
      'announces a pin that is set, changed or removed',
      [{ text: unpinned }, { text: pinnedTo('v1') }, { text: pinnedTo('v22') }, { text: unpinned }],
      [[], signal, signal, signal],
    ],
    [
      'announces that it is disabled, and enabled again',
      [{ text: unpinned }, { text: off }, { text: `${off}# for now\n` }, { text: unpinned }],
      [[], signal, [], signal],
    ],
    [
      'announces a pin that exists at the start once, and no other change',
      [{ text: pinnedTo('v1') }, {}, { text: `${pinnedTo('v1')}# checked\n` }],
      [signal, [], []],
    ],
    ['that appears later announces the pin that it brings', [{}, { text: pinnedTo('v1') }], [[], signal]],
    [
      'repeats an announcement that Temporal did not accept',
      [{ text: unpinned }, { text: pinnedTo('v1'), temporalAway: true }, {}, {}],
      [[], [], signal, []],
    ],
    [
      'is read again after a temporary read failure',
      [{ text: unpinned }, { text: 'staticExport: [' }, { text: pinnedTo('v1') }],
      [[], [], signal],
    ],
  ])('%s', async (_, looks, signals) => {
    expect(await announced(looks)).toEqual(signals);
  });
});
