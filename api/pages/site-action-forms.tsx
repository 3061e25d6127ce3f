import type { DeploymentState } from '../../contract/site-state.ts';
import { ActionButton, ButtonLink } from '../../ui/components/form.tsx';
import { Message } from '../../ui/components/message.tsx';
import { Text } from '../../ui/components/text.tsx';
import type { SiteStatus } from '../site-status.ts';
import { sitePath } from './layout.tsx';

/** What operators can do with a site now. */
export function SiteActionsBar({ status, csrf }: { status: SiteStatus; csrf: string }) {
  const { site, phase, exportedAt, lock } = status;
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
      {lock === null ? (
        <span id="lock">
          <ButtonLink href={sitePath(site, 'lock')} icon="lock">
            Lock
          </ButtonLink>
        </span>
      ) : (
        <span id="unlock">
          <ActionButton action={sitePath(site, 'unlock')} csrf={csrf} icon="unlock">
            Unlock
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
export function ReviewMessage({ site, review: { version, jobId, reasons, previewUrl }, csrf }: ReviewProps) {
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
      {previewUrl !== undefined && /^https?:/.test(previewUrl) && (
        <p>
          <a href={previewUrl}>Look at it</a>: the link works for a day.
        </p>
      )}
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

type DeploymentFormsProps = { site: string; deployment: DeploymentState; csrf: string };

/** For a version that waits for a person before it is written to this deployment. */
export function DeploymentForms({ site, deployment: { name, state, desired }, csrf }: DeploymentFormsProps) {
  if (state !== 'approval') return null;
  const version = desired.version ?? desired.jobId ?? 'the version';
  const common = { csrf, fields: { deployment: name } };
  return (
    <div class="actions">
      <ActionButton
        {...common}
        action={sitePath(site, 'approve')}
        variant="primary"
        label={`Approve ${version} for ${name}`}
      >
        Approve
      </ActionButton>
      <ActionButton {...common} action={sitePath(site, 'reject')} label={`Reject ${version} for ${name}`}>
        Reject
      </ActionButton>
    </div>
  );
}
