import { formatDurationMs } from '../../contract/duration.ts';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { Settings } from '../../programs/settings/environment.ts';

/** A shorter one can be guessed. */
const LEAST_SECRET = 16;
const TOO_SHORT = `expected at least ${LEAST_SECRET} characters (openssl rand -hex 32 makes a secret)`;

type Checked = [config: Pick<GalleyConfig, 'sites'>, settings: Pick<Settings, 'operatorToken'>];

/** What is valid by itself, and can't be meant. A line each. */
export function contradictions(...[{ sites }, { operatorToken }]: Checked): string[] {
  const found = Object.entries(sites).flatMap(
    ([
      name,
      {
        webhooks,
        export: { quietPeriod, maxWait },
      },
    ]) => {
      const [quiet, longest] = [quietPeriod, maxWait].map(formatDurationMs);
      const waits = `sites.${name}.export.quietPeriod: expected at most maxWait, but ${quiet} is above ${longest}`;
      const short = Object.entries(webhooks).flatMap(([source, settings]) =>
        [settings?.secret ?? []].flat().some((each) => each.length < LEAST_SECRET)
          ? [`sites.${name}.webhooks.${source}.secret: ${TOO_SHORT}`]
          : [],
      );
      return [...(quietPeriod > maxWait ? [waits] : []), ...short];
    },
  );
  const isShort = operatorToken !== undefined && operatorToken.length < LEAST_SECRET;
  return isShort ? [...found, `OPERATOR_TOKEN: ${TOO_SHORT}`] : found;
}
