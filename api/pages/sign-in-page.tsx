import { Button, Field, Form } from '../../ui/components/form.tsx';
import { Message } from '../../ui/components/message.tsx';
import { Page } from '../../ui/page.tsx';
import { SIGN_IN } from './access.ts';

type SignInProps = {
  /** Where to go then. */
  to: string;
  name?: string;
  nameError?: string | undefined;
  tokenError?: string | undefined;
  /** The secret of a one-time link, instead of the token. */
  link?: string | undefined;
  /** What happened before. */
  message?: string | undefined;
};

export function SignInPage({ to, name = '', nameError, tokenError, link, message }: SignInProps) {
  return (
    <Page title="Sign in" name="Galley" narrow>
      <section class="panel">
        <h1>Sign in</h1>
        {message !== undefined && <Message kind="warning">{message}</Message>}
        <Form action={SIGN_IN} csrf="">
          <input type="hidden" name="to" value={to} />
          <Field
            label="Your name"
            name="name"
            value={name}
            hint="It is recorded with everything that you do here."
            error={nameError}
            autocomplete="name"
            maxLength={60}
            required
          />
          {link === undefined ? (
            <Field
              label="Operator token"
              name="token"
              type="password"
              hint="The value of OPERATOR_TOKEN. With `galley up`, it is in the file operator-token in GALLEY_HOME (.galley)."
              error={tokenError}
              autocomplete="current-password"
              required
            />
          ) : (
            <input type="hidden" name="link" value={link} />
          )}
          <Button variant="primary">Sign in</Button>
        </Form>
      </section>
    </Page>
  );
}

/** Without an operator token, there is no way to sign in. */
export function NoTokenPage() {
  return (
    <Page title="Sign in" name="Galley" narrow>
      <section class="panel">
        <h1>The sites page is off</h1>
        <p>
          Set <code>OPERATOR_TOKEN</code> to a long random text and start <code>galley api</code> again. Operators sign
          in with this token.
        </p>
      </section>
    </Page>
  );
}

/** An error on a page, with a way on. */
export function ErrorPage({ status, message, backHref }: { status: number; message: string; backHref: string }) {
  const title = TITLES[status] ?? 'That did not work';
  return (
    <Page title={title} name="Galley" narrow>
      <section class="panel">
        <h1>{title}</h1>
        <p>{`${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`}</p>
        <p>
          <a href={backHref}>Back</a>
        </p>
      </section>
    </Page>
  );
}

const TITLES: Record<number, string> = { 404: 'Not found', 500: 'Something went wrong', 503: 'Not available now' };
