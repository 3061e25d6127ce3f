import { Button, Field, Form } from '../../ui/components/form.tsx';
import { Message } from '../../ui/components/message.tsx';
import { ShortPage } from '../../ui/short-page.tsx';
import { SIGN_IN } from '../../web/access.ts';

type OperatorSignInProps = {
  /** The page to go to then. */
  to: string;
  name?: string;
  nameError?: string | undefined;
  tokenError?: string | undefined;
  /** The secret of a one-time link, instead of the token. */
  link?: string | undefined;
  /** What happened before. */
  message?: string | undefined;
};

export function OperatorSignInPage({ to, name = '', nameError, tokenError, link, message }: OperatorSignInProps) {
  return (
    <ShortPage title="Sign in">
      {message !== undefined && <Message kind="warning">{message}</Message>}
      <Form action={SIGN_IN} csrf="" fields={{ to, ...(link !== undefined && { link }) }}>
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
        {link === undefined && (
          <Field
            label="Operator token"
            name="token"
            type="password"
            hint="The value of OPERATOR_TOKEN. With `galley up`, it is in the file operator-token in GALLEY_HOME (.galley)."
            error={tokenError}
            autocomplete="current-password"
            required
          />
        )}
        <Button variant="primary">Sign in</Button>
      </Form>
    </ShortPage>
  );
}

/** Without an operator token, there is no way to sign in. */
export function NoTokenPage() {
  return (
    <ShortPage title="Sign in" heading="The sites page is off">
      <p>
        Set <code>OPERATOR_TOKEN</code> to a long random text and start <code>galley api</code> again. Operators sign in
        with this token.
      </p>
    </ShortPage>
  );
}
