import type { Guess } from '../../web/slow-guesses.ts';
import type { Turns } from '../../web/turns.ts';
import type { ApiContext } from '../api/platform-api-deps.ts';
import type { Auth } from './auth.ts';
import type { OpenIdSettings } from './auth-settings.ts';
import type { SitesPage } from './sites-page.tsx';

/** What the dashboard's pages work with. */
export type DashboardContext = ApiContext & {
  operatorToken: string;
  openId: OpenIdSettings | undefined;
  /**
   * Created at the first call, because the URL may only be known after listening. Better Auth is loaded then, too: it has
   * many modules, which a platform without sessions never needs.
   */
  auth(): Promise<Auth>;
  /** Checks a password, and slows down who guesses. */
  guess: Guess;
  /** One at a time per client network. */
  anonymousTurns: Turns;
  /** Emails that may sign up at this moment; the first administrator's. */
  admitted: Set<string>;
  /** The sites page of the same `galley up`, if there is one. */
  sitesPage: SitesPage | undefined;
  /** Ends live updates. */
  stopped: AbortSignal | undefined;
};
