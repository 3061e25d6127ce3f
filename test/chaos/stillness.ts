/**
 * Tells when nothing changes any more. It counts looks instead of time: a look reads every site, so it takes as long as the
 * machine and the product need, and a busy machine is given more time.
 */
export class Stillness {
  readonly #looks: number;
  #last: string | undefined;
  #unchanged = 0;

  constructor(looks: number) {
    this.#looks = looks;
  }

  /** @returns whether this many looks after another one have seen the same as this one */
  look(seen: string): { isNew: boolean; isStill: boolean } {
    const isNew = seen !== this.#last;
    this.#unchanged = isNew ? 0 : this.#unchanged + 1;
    this.#last = seen;
    return { isNew, isStill: this.#unchanged >= this.#looks };
  }
}
