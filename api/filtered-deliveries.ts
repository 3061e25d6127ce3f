import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { z } from 'zod';
import { sha256Hex } from '../base/sha256.ts';
import { cutText } from '../contract/cut-text.ts';
import { createSpool, type Spool } from './spool.ts';

/** A filtered delivery with what is needed to verify it again. Its body is in a file of its own. */
const keptDelivery = z.object({
  site: z.string(),
  about: z.object({ id: z.string(), source: z.string(), at: z.string(), topic: z.string(), why: z.string() }),
  request: z.object({
    method: z.string(),
    path: z.string(),
    headers: z.record(z.string(), z.union([z.string(), z.array(z.string())]).optional()),
  }),
});
export type KeptDelivery = z.infer<typeof keptDelivery>;
/** What lists show of one. */
export type ListedDelivery = Pick<KeptDelivery, 'site' | 'about'>;

type Options = { folder: string; maxBytes: number; logger: Logger };

/** Bodies that wait to be written; more of them aren't kept. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Limits the files of a folder, and the time to list them at the start. */
const MAX_KEPT = 5_000;
/** Senders choose these texts; lists are in memory. */
const MAX_TEXT = 200;
const SPOOL = '.arriving-';
/** Headers may hold tokens. */
const PRIVATE = { mode: 0o600 };

/**
 * Keeps filtered deliveries in a folder, so that they can be run again once the filter is right. The oldest are removed
 * first. Everything is written in the background: responses to senders never wait for it, and a failure is only logged.
 */
export class FilteredDeliveries {
  readonly #options: Options;
  /** Oldest first. */
  readonly #kept = new Map<string, ListedDelivery & { sizeBytes: number }>();
  #totalBytes = 0;
  #waitingBytes = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Creates the folder or reads it, and removes what a killed process left. */
  async restore(): Promise<void> {
    const { folder } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const names = new Set<string>();
    for (const file of await readdir(folder)) {
      if (file.startsWith(SPOOL)) await rm(join(folder, file), { force: true });
      else names.add(file.replace(/\.\w+$/, ''));
    }
    const found: { name: string; delivery: KeptDelivery; sizeBytes: number }[] = [];
    for (const name of names) {
      const delivery = await this.#read(name);
      const sizeBytes = await this.#sizeOf(name).catch(() => undefined);
      if (delivery === undefined || sizeBytes === undefined) await this.#forget(name);
      else found.push({ name, delivery, sizeBytes });
    }
    found.sort((a, b) => Date.parse(a.delivery.about.at) - Date.parse(b.delivery.about.at));
    for (const { name, delivery, sizeBytes } of found) await this.#add(name, delivery, sizeBytes);
  }

  /** What can be run again, oldest first. */
  list(): ListedDelivery[] {
    return [...this.#kept.values()];
  }

  /** Keeps a delivery with its body; a large one's is in the spool. */
  keep(delivery: KeptDelivery, body: Buffer | Spool): void {
    const name = nameOf(delivery.site, delivery.about.id);
    if (!Buffer.isBuffer(body)) {
      const claimed = body.claim();
      this.#inBackground(async () => {
        const file = await claimed;
        if (file !== undefined) await this.#write(name, delivery, file);
      });
    } else if (this.#waitingBytes + body.length <= MAX_WAITING_BYTES) {
      this.#waitingBytes += body.length;
      this.#inBackground(async () => {
        this.#waitingBytes -= body.length;
        await this.#write(name, delivery, body);
      });
    }
  }

  /** Finds a kept delivery. `body` opens its bytes. */
  async find(site: string, id: string): Promise<{ delivery: KeptDelivery; body: () => Readable } | undefined> {
    await this.settled();
    const name = nameOf(site, id);
    const delivery = this.#kept.has(name) ? await this.#read(name) : undefined;
    return delivery && { delivery, body: () => createReadStream(this.#fileOf(name, 'body')) };
  }

  remove(site: string, id: string): void {
    this.#inBackground(() => this.#forget(nameOf(site, id)));
  }

  /** A file for the body of a delivery that arrives; it doesn't count towards the limit. */
  spool(): Spool {
    return createSpool(join(this.#options.folder, `${SPOOL}${randomUUID()}`));
  }

  /** Resolves once everything is written. */
  async settled(): Promise<void> {
    await this.#last;
  }

  #fileOf(name: string, kind: 'json' | 'body'): string {
    return join(this.#options.folder, `${name}.${kind}`);
  }

  #inBackground(task: () => Promise<void>): void {
    this.#last = this.#last.then(task).catch((error: unknown) => {
      this.#options.logger.warn({ error: String(error) }, 'A filtered delivery could not be kept');
    });
  }

  async #write(name: string, delivery: KeptDelivery, body: Buffer | string): Promise<void> {
    await this.#forget(name);
    if (typeof body === 'string') await rename(body, this.#fileOf(name, 'body'));
    else await writeFile(this.#fileOf(name, 'body'), body, PRIVATE);
    // Last, because only a delivery with both files is whole.
    await writeFile(this.#fileOf(name, 'json'), JSON.stringify(delivery), PRIVATE);
    await this.#add(name, delivery, await this.#sizeOf(name));
  }

  async #add(name: string, { site, about }: KeptDelivery, sizeBytes: number): Promise<void> {
    const texts = { topic: cutText(about.topic, MAX_TEXT), why: cutText(about.why, MAX_TEXT) };
    this.#kept.set(name, { site, about: { ...about, ...texts }, sizeBytes });
    this.#totalBytes += sizeBytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#totalBytes <= this.#options.maxBytes && this.#kept.size <= MAX_KEPT) return;
      await this.#forget(oldest);
    }
  }

  async #forget(name: string): Promise<void> {
    this.#totalBytes -= this.#kept.get(name)?.sizeBytes ?? 0;
    this.#kept.delete(name);
    for (const kind of ['json', 'body'] as const) await rm(this.#fileOf(name, kind), { force: true });
  }

  async #sizeOf(name: string): Promise<number> {
    const found = await Promise.all([stat(this.#fileOf(name, 'json')), stat(this.#fileOf(name, 'body'))]);
    return found.reduce((sum, { size }) => sum + size, 0);
  }

  async #read(name: string): Promise<KeptDelivery | undefined> {
    const text = await readFile(this.#fileOf(name, 'json'), 'utf8').catch(() => '');
    try {
      return keptDelivery.parse(JSON.parse(text));
    } catch {
      return undefined;
    }
  }
}

function nameOf(site: string, id: string): string {
  return sha256Hex(`${site}\n${id}`);
}
