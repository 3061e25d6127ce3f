import { startDevServer } from '../../embedded/temporal/dev-server.ts';
import { locateDevServer } from '../../embedded/temporal/locate-dev-server.ts';
import type { ProcessContext } from '../process/context.ts';
import type { Home } from '../process/home.ts';
import { registerSearchAttributes, type SearchAttributes } from '../temporal/search-attributes.ts';
import { openTemporal, type Temporal } from '../temporal/temporal.ts';

export interface UpContext extends ProcessContext {
  home: Home;
}

export interface ChosenTemporal {
  temporal: Temporal;
  searchAttributes: SearchAttributes;
  /** Null: unknown, because it isn't embedded. */
  uiUrl: string | null;
}

/** The Temporal service in the variables, otherwise a local dev server with its state in GALLEY_HOME. */
export async function chooseTemporal(context: UpContext): Promise<ChosenTemporal> {
  const { logger, lifetime } = context;
  const { temporal, uiUrl } = await openOrStart(context);
  const searchAttributes = registerSearchAttributes({ ...temporal, logger, signal: lifetime.signal });
  return { temporal, searchAttributes, uiUrl };
}

async function openOrStart(context: UpContext): Promise<Omit<ChosenTemporal, 'searchAttributes'>> {
  const { settings, home, logger, lifetime } = context;
  if (settings.temporalConfigured) return { temporal: await openTemporal({ settings, logger }, lifetime), uiUrl: null };
  const executable = await locateDevServer();
  lifetime.signal.throwIfAborted();
  const server = await startDevServer({
    executable,
    dbFilename: home.path('temporal.db'),
    port: settings.temporalPort,
    uiPort: settings.temporalUiPort,
  });
  lifetime.onStop('Temporal dev server', server.stop);
  void server.exited.then(() => lifetime.fail(new Error('The embedded Temporal server ended by itself')));
  return { temporal: await openTemporal({ settings, logger, embedded: server }, lifetime), uiUrl: server.uiUrl };
}
