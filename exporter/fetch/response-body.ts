/** Controls the connection of a body: back-pressure and abort. */
type BodySource = { pause(): void; resume(): void; abort(reason: Error): void };

/** How much of an unwanted body is read so that its connection can be reused. */
const MAX_DUMPED_BYTES = 128 * 1024;
/** How much is buffered for a reader that takes the body piece by piece. */
const PIECES_AHEAD_BYTES = 64 * 1024;
const TOO_MUCH = new Error('more of the body came than is worth reading');

/**
 * A response's body, to be read once and in one way. It is buffered as it arrives; past `maxHeldBytes` the origin has
 * to wait. Not a stream, because most bodies have one or two chunks, and a stream would cost more than everything else
 * about them.
 */
export class ResponseBody {
  private readonly source: BodySource;
  private maxHeldBytes: number;
  private chunks: Buffer[] = [];
  private heldBytes = 0;
  private heldSince: number | undefined;
  private heldBeforeMs = 0;
  private readonly nowMs: () => number;
  private isDumped = false;
  private end: { error: unknown } | 'whole' | undefined;
  private wake = (): void => undefined;

  /** All bytes received so far, read or not. */
  receivedBytes = 0;
  /** When the last chunk arrived, or the connection was resumed. */
  lastAt: number;

  /** `nowMs`: the clock of all times here, in milliseconds. */
  constructor(source: BodySource, maxHeldBytes: number, nowMs: () => number = () => performance.now()) {
    this.source = source;
    this.maxHeldBytes = maxHeldBytes;
    this.nowMs = nowMs;
    this.lastAt = nowMs();
  }

  /** Whether the origin is waiting for us. */
  get isHeld(): boolean {
    return this.heldSince !== undefined;
  }

  /** How long the origin has waited for us so far. */
  get heldMs(): number {
    return this.heldBeforeMs + (this.heldSince === undefined ? 0 : this.nowMs() - this.heldSince);
  }

  push(chunk: Buffer): void {
    this.heldBytes += chunk.length;
    this.receivedBytes += chunk.length;
    this.lastAt = this.nowMs();
    if (!this.isDumped) this.chunks.push(chunk);
    if (this.heldBytes > this.maxHeldBytes) {
      if (this.isDumped) this.source.abort(TOO_MUCH);
      else this.hold();
    }
    this.wake();
  }

  /** Whether the body is complete or broke off. */
  get isOver(): boolean {
    return this.end !== undefined;
  }

  /** Ends the body: it is complete, or broke off. */
  finish(end: { error: unknown } | 'whole'): void {
    this.end ??= end;
    this.wake();
  }

  /**
   * The body; undefined if it is longer than `maxHeldBytes`: then read `pieces`. Throws the error that broke it off.
   */
  async whole(): Promise<Buffer | undefined> {
    while (this.end === undefined && this.heldBytes <= this.maxHeldBytes) await this.news();
    if (this.heldBytes > this.maxHeldBytes) return undefined;
    this.throwIfBroken();
    const [only] = this.chunks;
    return this.chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.chunks, this.heldBytes);
  }

  /** The body in chunks, no faster than they are read. Throws the error that broke it off. */
  async *pieces(): AsyncGenerator<Buffer> {
    this.maxHeldBytes = PIECES_AHEAD_BYTES;
    while (true) {
      for (let chunk = this.chunks.shift(); chunk !== undefined; chunk = this.chunks.shift()) {
        this.heldBytes -= chunk.length;
        if (this.heldBytes <= this.maxHeldBytes) this.letGo();
        yield chunk;
      }
      this.throwIfBroken();
      if (this.end !== undefined) return;
      await this.news();
    }
  }

  /** Discards the rest of the body, or ends the connection if that is long. Resolves when nothing more arrives. */
  async dump(): Promise<void> {
    this.isDumped = true;
    this.chunks = [];
    this.maxHeldBytes = MAX_DUMPED_BYTES;
    this.letGo();
    while (this.end === undefined) await this.news();
  }

  private news(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  private throwIfBroken(): void {
    if (typeof this.end === 'object') throw this.end.error;
  }

  private hold(): void {
    this.heldSince ??= this.nowMs();
    this.source.pause();
  }

  private letGo(): void {
    if (this.heldSince === undefined) return;
    this.heldBeforeMs = this.heldMs;
    this.heldSince = undefined;
    this.lastAt = this.nowMs();
    this.source.resume();
  }
}
