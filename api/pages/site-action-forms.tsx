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
      <ActionButton
        action={sitePath(site, isPaused ? 'resume' : 'pause')}
        csrf={csrf}
        icon={isPaused ? 'play' : 'pause'}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </ActionButton>
      <ButtonLink href={sitePath(site, 'remove')} icon="trash" variant="danger">
        Remove
      </ButtonLink>
    </div>
  );
}
