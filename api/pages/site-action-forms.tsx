import { ActionButton, ButtonLink } from '../../ui/components/form.tsx';
import type { SiteStatus } from '../site-status.ts';
import { sitePath } from './layout.tsx';

/** What operators can do with a site now. */
export function SiteActionsBar({ status: { site, phase, exportedAt }, csrf }: { status: SiteStatus; csrf: string }) {
  const isPaused = phase === 'paused';
  return (
    <div class="actions">
      <ActionButton action={sitePath(site, 'export')} csrf={csrf} icon="upload" variant="primary">
        Export now
      </ActionButton>
      <ActionButton action={sitePath(site, 'refresh')} csrf={csrf} icon="refresh" disabled={exportedAt === null}>
        Refresh link
      </ActionButton>
      {/* Two elements with ids: a live update must not turn one button into the other while it is pressed. */}
      {isPaused ? (
        <span id="resume">
          <ActionButton action={sitePath(site, 'resume')} csrf={csrf} icon="play">
            Resume
          </ActionButton>
        </span>
      ) : (
        <span id="pause">
          <ActionButton action={sitePath(site, 'pause')} csrf={csrf} icon="pause">
            Pause
          </ActionButton>
        </span>
      )}
      <ButtonLink href={sitePath(site, 'remove')} icon="trash" variant="danger">
        Remove
      </ButtonLink>
    </div>
  );
}
