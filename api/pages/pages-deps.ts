import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { OwnersDashboard, SignInLinks } from '../../web/sign-in-links.ts';
import type { Wait } from '../../web/slow-guesses.ts';
import type { FilteredDeliveries } from '../filtered-deliveries.ts';
import type { SiteActions } from '../site-actions.ts';
import type { SiteStatusReader } from '../site-status.ts';
import type { TemporalGateway } from '../temporal-gateway.ts';

export type PagesDeps = {
  client: Client;
  config: GalleyConfig;
  gateway: TemporalGateway;
  status: SiteStatusReader;
  actions: SiteActions;
  /** What can be run again; undefined: nothing is kept. */
  filtered: Pick<FilteredDeliveries, 'list'> | undefined;
  /** Undefined: there is no way to sign in. */
  operatorToken: string | undefined;
  /** Links that sign in once; undefined: there are none. */
  signInLinks: SignInLinks | undefined;
  /** The dashboard of the same `galley up`; undefined: there is none. */
  dashboard: OwnersDashboard | undefined;
  /** The URL of Temporal's UI, for links to workflows; undefined if unknown. */
  temporalUiUrl: string | undefined;
  searchAttributesReady: () => boolean;
  /** Ends the live updates. */
  stopped: AbortSignal | undefined;
  /** After this time, a page lacks what Temporal or a workflow didn't return. */
  readDeadlineMs: number;
  logger: Logger;
  now: () => Date;
  /** Delays the answer to a wrong operator token; by default with a timer. */
  wait: Wait | undefined;
};
