import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Wait } from '../../web/slow-guesses.ts';
import type { OpenIdSettings } from '../dashboard/auth-settings.ts';
import type { SendMail } from '../dashboard/mail.ts';
import type { SitesPage } from '../dashboard/sites-page.tsx';
import type { ObjectStore } from '../objects/object-store.ts';
import type { ExportKeep } from '../retention/export-keep.ts';
import type { AgentRunKey } from '../store/agent-runs.ts';
import type { Database } from '../store/database.ts';

export type PlatformApiDeps = {
  /** May be unreachable or not migrated yet: requests then get 503. */
  db: Database;
  objects: ObjectStore;
  /** Starts a job's workflow. Called once after each start; the reconciler repeats it if it fails. */
  startExport(jobId: string, domain: string): Promise<void>;
  /** Cancels a job's workflow, if it has one. Called once; the reconciler repeats it if it fails. */
  cancelExport(jobId: string): Promise<void>;
  /** Starts a run's workflow. Called once after each accepted prompt; the reconciler repeats it if it fails. */
  startAgentJob(key: AgentRunKey, domain: string): Promise<void>;
  /** Cancels a run's workflow, if it has one. Called once; the reconciler repeats it if it fails. */
  cancelAgentJob(key: AgentRunKey): Promise<void>;
  /** The `model` of new agent jobs. */
  agentModel: string;
  /** Base of links and of the OpenAPI document; a function if the port is only known after listening. */
  publicUrl: string | (() => string);
  /** Base of the links to bundles, which programs fetch; `publicUrl` if it is missing. */
  bundlesUrl?: (() => string) | undefined;
  bundleLinkTtlMs: number;
  /** Which exports `galley gc` keeps; undefined: all. */
  exportKeep?: ExportKeep | undefined;
  /** Enables the admin routes, the dashboard, and merging at the embedded forge; undefined: none of them. */
  operatorToken?: string;
  /** Called when the embedded forge has put webhooks into its outbox. */
  onForgeEvent?: () => void;
  /** Single sign-on for the dashboard; undefined: none. */
  openId?: OpenIdSettings | undefined;
  /** Sends the dashboard's mails; undefined: links are shown instead. */
  sendMail?: SendMail | undefined;
  /** The sites page of the same `galley up`, which owners open from the dashboard. */
  sitesPage?: SitesPage | undefined;
  /** Ends the dashboard's live updates. */
  stopped?: AbortSignal | undefined;
  /** The registry behind /metrics, if the caller adds metrics of its own. */
  metrics?: Registry;
  logger: Logger;
  /** Addresses and networks of proxies whose `X-Forwarded-…` headers are believed; undefined: none. */
  trustedProxies?: readonly string[];
  /** Delays the answer to a wrong password; by default with a timer. */
  wait?: Wait;
  /** The clock for versions, limits and idempotency, in epoch milliseconds. */
  now?: () => number;
};

/** The deps with their defaults. */
export type ApiContext = Omit<
  PlatformApiDeps,
  'publicUrl' | 'bundlesUrl' | 'openId' | 'sitesPage' | 'stopped' | 'metrics' | 'now' | 'trustedProxies' | 'wait'
> & {
  publicUrl(): string;
  bundlesUrl(): string;
  now(): Date;
};
