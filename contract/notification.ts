import { z } from 'zod';

/** What Galley reports to the targets of `notify` in galley.yaml, and the body of an outgoing webhook. */

/** The types of events, as `on` in galley.yaml names them. */
export const NOTIFICATION_TYPES = ['published', 'served', 'failed', 'recovered', 'pull-request'] as const;

export const notificationType = z.enum(NOTIFICATION_TYPES);
export type NotificationType = z.infer<typeof notificationType>;

/** Identifies the event and orders it. The id is the same in every attempt to report the event. */
const occurrence = {
  id: z.string().min(1).max(200),
  /** RFC 3339. */
  at: z.string(),
};

const siteOf = { site: z.string(), domain: z.string() };
const text = z.string().max(500);
const version = z.string().max(200).nullable();

export const notificationEvent = z.discriminatedUnion('type', [
  /** An export of publishes begins. `publishes` counts them; `title` and `url` are the newest one's. */
  z.object({
    ...occurrence,
    type: z.literal('published'),
    data: z.object({ ...siteOf, publishes: z.int(), title: text, url: z.string().max(2_000) }),
  }),
  /** A deployment got a version. */
  z.object({
    ...occurrence,
    type: z.literal('served'),
    data: z.object({ ...siteOf, version, jobId: z.string(), rolledBack: z.boolean() }),
  }),
  /** An export, a refresh or a deployment has been failing since `since`. */
  z.object({
    ...occurrence,
    type: z.literal('failed'),
    data: z.object({ ...siteOf, since: z.string(), error: text, status: z.int().nullable() }),
  }),
  /** The failure is over. `version` is the one served. */
  z.object({
    ...occurrence,
    type: z.literal('recovered'),
    data: z.object({ ...siteOf, since: z.string(), version }),
  }),
  /** An agent's pull request. */
  z.object({
    ...occurrence,
    type: z.literal('pull-request'),
    data: z.object({
      site: z.string(),
      rule: z.string(),
      action: z.enum(['opened', 'merged', 'closed']),
      title: text,
      url: z.string().max(2_000),
    }),
  }),
]);
export type NotificationEvent = z.infer<typeof notificationEvent>;

/** Names a target in a workflow's history, without its URL: a Slack URL is a secret. */
export type NotificationTarget = {
  /** Its place in `notify`, from 1. */
  number: number;
  host: string;
  /** The start of the URL's SHA-256: another URL is another target. */
  hash: string;
};
