import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

/**
 * A message that stops before its last line until permission is given. Without that line and the final dot, the server
 * doesn't have the message: if the connection ends before, nothing was sent (RFC 5321, 4.1.1.4). Nodemailer starts to
 * read after the response to DATA, so permission is requested as late as possible.
 */
export class HeldMessage extends Readable {
  readonly #source: Readable;
  readonly #permission: () => Promise<void>;
  #started = false;
  #released = false;

  /** @param permission rejects if the message must not be sent; its reason destroys the stream. */
  constructor(source: Readable, permission: () => Promise<void>) {
    super();
    this.#source = source;
    this.#permission = permission;
  }

  /** True once the last line may have been sent. Never becomes false again. */
  get released(): boolean {
    return this.#released;
  }

  override _read(): void {
    if (this.#started) return;
    this.#started = true;
    this.#run().catch((error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))));
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#source.destroy();
    done(error);
  }

  async #run(): Promise<void> {
    const message = await buffer(this.#source);
    const lastLine = message.lastIndexOf('\n', message.length - 2) + 1;
    this.push(message.subarray(0, lastLine));
    await this.#permission();
    // If the connection has closed meanwhile, the last line certainly wasn't sent.
    if (this.destroyed) return;
    this.#released = true;
    this.push(message.subarray(lastLine));
    this.push(null);
  }
}
