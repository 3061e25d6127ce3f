/** `good`: as it should be; `busy`: under way; `warn`: a person should look; `bad`: failed; `neutral`: anything else. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'neutral';

/** A state in one word. The dot's color repeats what the word says. */
export function Badge({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span class="badge" data-tone={tone}>
      <span class="dot" aria-hidden="true" />
      {children}
    </span>
  );
}
