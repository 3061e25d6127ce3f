import fc from '../../helpers/fast-check.ts';
import { COMMAND_COUNT, COMMAND_NAMES, type Played } from './model-commands.ts';
import { placeSettings, playSequence } from './play-sequence.ts';

/** Pairs of states are where sites fail, so sequences are long and many, and each pair of commands is frequent. */
const SEQUENCES = 20_000;
const STEPS = 60;
const OFTEN = 50;
/** Links are due together, so they would be the one thing that deployments share. */
const NEVER_DUE_MS = 30 * 86_400_000;

const places = fc.array(placeSettings, { minLength: 1, maxLength: 3 });
const severalPlaces = fc.array(placeSettings, { minLength: 2, maxLength: 3 });
/** Without fast-check's preference for the first and last numbers, which are as good as any other. */
const command = fc.noBias(fc.nat(COMMAND_COUNT - 1));
const commands = fc.array(command, { minLength: STEPS, maxLength: STEPS });

/** What one deployment's own world does; links and files are shared with others. */
const ITS_OWN = ['answers new', 'answers old', 'answers an error', 'answers nothing', 'writes fail', 'writes work'];
const ITS_PULL_REQUEST = ['pull request merged', 'pull request closed'];
const SHARED = ['links refused', 'links gone', 'file moves away', 'file is listed twice'];

describe('a site and its deployments, after any sequence of commands', () => {
  it('go back only for a reason, keep what operators decided and their links, and serve each publish in the end', () => {
    const counts = new Map<string, number>();
    const count = (key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
    let before = '';
    const onPlayed = ({ name }: Played): void => {
      count(name);
      count(`${before}, ${name}`);
      before = name;
    };
    const holds = fc.property(places, commands, (settings, codes) => {
      before = '';
      playSequence(settings, codes, { onPlayed });
    });
    fc.assert(holds, { numRuns: SEQUENCES });
    const pairs = COMMAND_NAMES.flatMap((first) => COMMAND_NAMES.map((second) => `${first}, ${second}`));
    expect(pairs.filter((pair) => (counts.get(pair) ?? 0) < OFTEN)).toEqual([]);
  });

  it('depend on each other only by waves', () => {
    const holds = fc.property(severalPlaces, commands, (settings, codes) => {
      const all = settings.map((each) => ({ ...each, wave: 1 }));
      const writesOfFirst = (othersAct: boolean): string[] => {
        const skips = ({ name, place }: Played): boolean =>
          SHARED.includes(name) ||
          (!othersAct && place.name !== 'd0' && (ITS_OWN.includes(name) || ITS_PULL_REQUEST.includes(name)));
        const writes = playSequence(all, codes, { skips, heals: false, callMs: 0, linkLifeMs: NEVER_DUE_MS });
        return writes.filter(({ place }) => place === 'd0').map(({ text }) => text);
      };
      expect(writesOfFirst(true)).toEqual(writesOfFirst(false));
    });
    fc.assert(holds, { numRuns: SEQUENCES / 10 });
  });
});
