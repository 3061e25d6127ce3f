import type { ComponentChildren } from 'preact';
import { ActionButton, ButtonLink } from './form.tsx';

type ConfirmProps = {
  question: string;
  /** What happens, and what can't be undone. */
  children: ComponentChildren;
  action: string;
  csrf: string;
  /** Sent with the form. */
  fields?: Readonly<Record<string, string>>;
  confirmLabel: string;
  /** The page to return to without doing it. */
  cancelHref: string;
  variant?: 'danger' | 'primary';
};

/** The content of a page that asks before it acts. */
export function Confirm({ question, children, cancelHref, confirmLabel, variant = 'danger', ...form }: ConfirmProps) {
  return (
    <section class="panel">
      <h1>{question}</h1>
      {children}
      <div class="actions">
        <ActionButton {...form} variant={variant}>
          {confirmLabel}
        </ActionButton>
        <ButtonLink href={cancelHref}>Cancel</ButtonLink>
      </div>
    </section>
  );
}
