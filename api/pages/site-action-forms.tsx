import { ActionButton, ButtonLink } from '../../ui/components/form.tsx';
import { Message } from '../../ui/components/message.tsx';
import { Text } from '../../ui/components/text.tsx';
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

type ReviewProps = { site: string; review: NonNullable<SiteStatus['review']>; csrf: string };

/** What a guard found, and what an operator can do about it. */
export function ReviewMessage({ site, review: { version, jobId, reasons }, csrf }: ReviewProps) {
  return (
    <Message kind="warning">
      <p>
        <strong>
          <Text>{version ?? jobId}</Text> waits for a review.
        </strong>{' '}
        The version before it is still served.
      </p>
      <ul>
        {reasons.map((reason) => (
          <li key={reason}>
            <Text>{reason}</Text>
          </li>
        ))}
      </ul>
      <div class="actions">
        <ActionButton action={sitePath(site, 'approve')} csrf={csrf} variant="primary">
          Approve
        </ActionButton>
        <ActionButton action={sitePath(site, 'reject')} csrf={csrf}>
          Reject
        </ActionButton>
      </div>
    </Message>
  );
}
