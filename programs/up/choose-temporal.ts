import { type DevServer, startDevServer } from '../../embedded/temporal/dev-server.ts';
import { locateDevServer } from '../../embedded/temporal/locate-dev-server.ts';
import type { ProcessContext } from '../process/context.ts';
import type { Home } from '../process/home.ts';
import { type HttpService, serve } from '../process/serve.ts';
import { registerSearchAttributes, type SearchAttributes } from '../temporal/search-attributes.ts';
import { openTemporal, type Temporal } from '../temporal/temporal.ts';
import { forwardTo } from './forward.ts';

export interface UpContext extends ProcessContext {
  home: Home;
}

export interface ChosenTemporal {
  temporal: Temporal;
  searchAttributes: SearchAttributes;
  /** Null: unknown, because it isn't embedded. */
  uiUrl: string | null;
  /** Copies the embedded server's database into a folder. */
  copyTo?: DevServer['copyTo'];
}

/** The Temporal service in the variables, otherwise a local dev server with its state in GALLEY_HOME. */
export async function chooseTemporal(context: UpContext): Promise<ChosenTemporal> {
  const { logger, lifetime } = context;
  const opened = await openOrStart(context);
  const searchAttributes = registerSearchAttributes({ ...opened.temporal, logger, signal: lifetime.signal });
  return { ...opened, searchAttributes };
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
  });
  lifetime.onStop('Temporal dev server', server.stop);
  void server.exited.then(() => lifetime.fail(new Error('The embedded Temporal server ended by itself')));
  const ui = await serveUi(server, context);
  const temporal = await openTemporal({ settings, logger, embedded: server }, lifetime);
  return { temporal, uiUrl: ui.url, copyTo: server.copyTo };
}

/** Temporal's UI has no sign-in and answers to any host, so it listens on a port of its own behind ours. */
async function serveUi({ uiUrl }: DevServer, { settings, lifetime }: UpContext): Promise<HttpService> {
  const ui = await serve(forwardTo(uiUrl), {
    ...{ host: '127.0.0.1', port: settings.temporalUiPort, variable: 'TEMPORAL_UI_PORT' },
    local: { publicUrl: settings.temporalUiUrl, variable: 'TEMPORAL_UI_URL' },
  });
  lifetime.onStop("Temporal's UI", ui.stop);
  return ui;
}
