import type { ComponentChildren } from 'preact';
import { Button, ButtonLink, Form } from './form.tsx';

export type ConfirmProps = {
  question: string;
  /** What happens, and what can't be undone. */
  children: ComponentChildren;
  action: string;
  csrf: string;
  /** What else to ask for, such as a reason. */
  inputs?: ComponentChildren;
  /** Sent with the form. */
  fields?: Readonly<Record<string, string>>;
  confirmLabel: string;
  /** The page to return to without doing it. */
  cancelHref: string;
  variant?: 'danger' | 'primary';
};

/** The content of a page that asks before it acts. */
export function Confirm({
  question,
  children,
  inputs,
  cancelHref,
  confirmLabel,
  variant = 'danger',
  ...form
}: ConfirmProps) {
  return (
    <section class="panel">
      <h1>{question}</h1>
      {children}
      <Form {...form}>
        {inputs}
        <div class="actions">
          <Button variant={variant}>{confirmLabel}</Button>
          <ButtonLink href={cancelHref}>Cancel</ButtonLink>
        </div>
      </Form>
    </section>
  );
}
