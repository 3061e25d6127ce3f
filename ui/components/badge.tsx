/** `good`: as it should be; `busy`: under way; `warn`: a person should look; `bad`: failed; `neutral`: anything else. */
type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'neutral';

export type BadgeProps = { tone: Tone; label: string };

/** A state in one word. The dot's color repeats what the word says. */
export function Badge({ tone, label }: BadgeProps) {
  return (
    <span class="badge" data-tone={tone}>
      <span class="dot" aria-hidden="true" />
      {label}
    </span>
  );
}
