import type { ComponentChildren } from 'preact';

type StageItem = {
  /** Unique in its list. */
  key: string;
  /** Chooses the color. */
  kind: 'quiet' | 'export' | 'deploy' | 'served' | 'refresh';
  /** `ended`: complete; `running`: under way; `failed`: it stopped here; `canceled`: a person stopped it; `waiting`: not reached yet. */
  status: 'ended' | 'running' | 'failed' | 'canceled' | 'waiting';
  name: string;
  /** When the stage ran, and for how long. */
  times?: ComponentChildren;
};

/** What happens one after the other. */
export function StageList({ items }: { items: readonly StageItem[] }) {
  return (
    <ol class="stages">
      {items.map(({ key, kind, status, name, times }) => (
        <li key={key} data-stage={kind} data-status={status}>
          <span class="stage-name">{name}</span>
          {times !== undefined && <span class="soft">{times}</span>}
        </li>
      ))}
    </ol>
  );
}
