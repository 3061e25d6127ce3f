import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

/**
 * A message on its way to a mail server that stops before its last line until permission is given. Without that line and
 * the dot after it, the server has no message: a connection that ends before then leaves nothing behind (RFC 5321, 4.1.1.4).
 *
 * Nothing is read before somebody reads from here, which nodemailer does once the server has answered DATA: permission
 * is asked for as late as can be.
 */
export class HeldMessage extends Readable {
  readonly #source: Readable;
  readonly #permission: () => Promise<void>;
  #started = false;
  #released = false;

  /** @param permission rejects where the message mustn't go; the stream is destroyed with its reason. */
  constructor(source: Readable, permission: () => Promise<void>) {
    super();
    this.#source = source;
    this.#permission = permission;
  }

  /** True from the moment at which the last line may be on the wire. It never becomes false again. */
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
    // The connection may have gone while we waited: then the line stays here, which is known for certain.
    if (this.destroyed) return;
    this.#released = true;
    this.push(message.subarray(lastLine));
    this.push(null);
  }
}
