import type { ComponentChildren } from 'preact';

type PasskeyProps = {
  action: 'add' | 'sign-in';
  label: string;
  /** The page that a sign-in leads to. */
  to?: string;
  /** Other buttons. */
  children?: ComponentChildren;
};

/** A button for the browser's passkeys, and below it what went wrong. It needs scripts. Once on a page. */
export function PasskeyActions({ action, label, to, children }: PasskeyProps) {
  return (
    <>
      <div class="actions">
        <button class="button scripted-only" type="button" data-passkey={action} data-to={to}>
          {label}
        </button>
        {children}
      </div>
      <p class="field-error" id="passkey-error" role="status" />
    </>
  );
}
