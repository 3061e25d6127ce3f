/** What a sample tells of itself: every text says that it is a test, and no two sends are alike. */
export interface TestEvent {
  title: string;
  slug: string;
  /** On the site's own domain. */
  url: string;
  author: string;
  at: Date;
  /** For systems that name their entries by UUIDs or other texts. */
  uuid: string;
  /** For systems that count their entries: up to 15 digits. */
  number: number;
}

/** A delivery that is about to be signed. */
export interface Outgoing {
  /** The text that goes over the wire. */
  body: string;
  /** What the body says. */
  json: unknown;
  secret: string;
  /** The path that is called, without a query. */
  path: string;
  at: Date;
  /** The delivery's own id, for systems that number their deliveries. */
  id: string;
}

/** How one content system describes a publish, and how it proves that it is the one. */
export interface Sender {
  /** A body as the system sends it when something was published. */
  sample(event: TestEvent): Record<string, unknown>;
  /** What it sends beside `Content-Type: application/json`, which another type here replaces. */
  headers(outgoing: Outgoing): Readonly<Record<string, string>>;
  /** Puts the secret into a body, where the system does that instead of signing. Throws UsageError where it can't. */
  withSecret?(json: unknown, secret: string): Record<string, unknown>;
}
