import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { announcePins } from '../../worker/announce-pins.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

/** What a values file holds at each look, and whether Temporal is away then. Without a text there is no file yet. */
type Look = { text?: string; temporalAway?: boolean };

const folder = emptiedFolder();

function pinnedTo(version: string): string {
  return `staticExport:\n  enabled: true\n  version: ${version}\n`;
}
const unpinned = 'staticExport:\n  enabled: true\n';
const off = 'staticExport:\n  enabled: false\n';

/** The signals that were sent after each look. */
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
      if (looks[at]?.temporalAway) throw new Error('Temporal is away');
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
      'announces that it is switched off, and on again',
      [{ text: unpinned }, { text: off }, { text: `${off}# for now\n` }, { text: unpinned }],
      [[], signal, [], signal],
    ],
    [
      'announces a pin that is there at the start once, and no change of anything else',
      [{ text: pinnedTo('v1') }, {}, { text: `${pinnedTo('v1')}# checked\n` }],
      [signal, [], []],
    ],
    ['that appears later announces the pin that it brings', [{}, { text: pinnedTo('v1') }], [[], signal]],
    [
      'announces again what Temporal did not take',
      [{ text: unpinned }, { text: pinnedTo('v1'), temporalAway: true }, {}, {}],
      [[], [], signal, []],
    ],
    [
      'that cannot be read for a while is read again',
      [{ text: unpinned }, { text: 'staticExport: [' }, { text: pinnedTo('v1') }],
      [[], [], signal],
    ],
  ])('%s', async (_, looks, signals) => {
    expect(await announced(looks)).toEqual(signals);
  });
});
