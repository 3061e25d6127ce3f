/** How the connection that a body comes over is held back. */
export type BodySource = { pause(): void; resume(): void; abort(reason: Error): void };

/** What is read of a body that nobody wants, so that its connection can be used again. */
const MAX_DUMPED_BYTES = 128 * 1024;
/** What waits in memory for a reader who takes the body piece by piece. */
const PIECES_AHEAD_BYTES = 64 * 1024;
const TOO_MUCH = new Error('more of the body came than is worth reading');

/**
 * The body of an answer, to be read once and in one way. It comes by itself and is kept; past `maxHeldBytes` the origin
 * waits. No stream: most bodies are one or two chunks, and a stream costs more than all else about them.
 */
export class AnswerBody {
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

  /** All that came so far, taken or not. */
  receivedBytes = 0;
  /** When something came last, or was asked for again after the origin was held. */
  lastAt: number;

  /** `nowMs`: the clock of the times here, in milliseconds. */
  constructor(source: BodySource, maxHeldBytes: number, nowMs: () => number = () => performance.now()) {
    this.source = source;
    this.maxHeldBytes = maxHeldBytes;
    this.nowMs = nowMs;
    this.lastAt = nowMs();
  }

  /** Whether the origin waits for us. */
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

  /** Whether it is whole, or broke off. */
  get isOver(): boolean {
    return this.end !== undefined;
  }

  /** Nothing more comes: the body is whole, or broke off. */
  finish(end: { error: unknown } | 'whole'): void {
    this.end ??= end;
    this.wake();
  }

  /** The body; undefined where it is longer than `maxHeldBytes`: `pieces` has all of it then. Throws what broke it off. */
  async whole(): Promise<Buffer | undefined> {
    while (this.end === undefined && this.heldBytes <= this.maxHeldBytes) await this.news();
    if (this.heldBytes > this.maxHeldBytes) return undefined;
    this.throwIfBroken();
    const [only] = this.chunks;
    return this.chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.chunks, this.heldBytes);
  }

  /** The body as it comes, no faster than it is taken. Throws what broke it off. */
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

  /** Lets a body come that nobody wants, or ends the connection where it is long. Done once nothing comes any more. */
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
