import { Button, ButtonLink, Field, Form } from '../../../ui/components/form.tsx';
import { Text } from '../../../ui/components/text.tsx';
import type { PullRequestRow } from '../../store/pull-requests.ts';

/** The reviewer whose link opened the page, with the link's token; or a signed-in member, with the CSRF token. */
export type ActingReviewer = { name: string; token: string } | { name: string; csrf: string };

type FormProps = {
  row: PullRequestRow;
  acting: ActingReviewer | undefined;
  /** Stands before each path: the page itself may answer a form. */
  root: string;
};

/**
 * Forms send a token, never a cookie alone, so that another site can't act on behalf of the reader. They also send what
 * is decided about: commits that were pushed after the page was loaded are not.
 */
function hiddenFields({ row, acting }: FormProps): Record<string, string> {
  const head = row.headSha;
  if (acting === undefined) return { head };
  return 'token' in acting ? { token: acting.token, head } : { csrf: acting.csrf, head };
}

/** The operator token is requested each time and never stored. */
function TokenField({ id }: { id: string }) {
  return <Field id={id} label="Operator token" name="token" type="password" autocomplete="off" isVerbatim required />;
}

/** `remark` is what was typed before. */
export function ReviewForm(props: FormProps & { canSignIn: boolean; remark: string }) {
  const { row, acting, root, canSignIn, remark } = props;
  return (
    <Form method="post" action={`${root}${row.id}/reviews`} fields={hiddenFields(props)}>
      <h3>Review</h3>
      {acting === undefined ? (
        <p class="soft">
          Reviewers: open the link in your mail
          {canSignIn && (
            <>
              , or <a href={`/ui/sign-in?to=/pulls/${row.id}`}>sign in</a>
            </>
          )}
          .
        </p>
      ) : (
        <p class="soft">
          You act as <Text>{acting.name}</Text>.
        </p>
      )}
      {acting === undefined && (
        <Field
          label="Your name"
          name="reviewer"
          maxLength={100}
          pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
          title="Letters, digits, dots, dashes and underscores"
          autocomplete="username"
          isVerbatim
          required
        />
      )}
      <Field label="Remark" name="body" rows={3} value={remark} maxLength={60_000} />
      {acting === undefined && <TokenField id="review-token" />}
      <div class="actions">
        {row.state === 'open' && (
          <>
            <Button name="event" value="APPROVE">
              Approve
            </Button>
            <Button name="event" value="REQUEST_CHANGES">
              Ask for changes
            </Button>
          </>
        )}
        <Button name="event" value="COMMENT">
          Comment
        </Button>
      </div>
    </Form>
  );
}

export function DecideForm(props: FormProps) {
  const { row, acting, root } = props;
  return (
    <Form method="post" action={`${root}${row.id}/merge`} fields={hiddenFields(props)}>
      <h3>Merge or close</h3>
      <p class="soft">
        Merging adds a merge commit to <code>{row.baseBranch}</code>. Closing leaves the branch as it is.
      </p>
      {acting === undefined && <TokenField id="decide-token" />}
      <div class="actions">
        <Button variant="primary">Merge</Button>
        <ButtonLink href={`${root}${row.id}?${ASKS_TO_CLOSE}#decide`}>Close without merging</ButtonLink>
      </div>
    </Form>
  );
}

/** The page with this query asks before it closes. */
export const ASKS_TO_CLOSE = 'close';

export function CloseForm(props: FormProps) {
  const { row, acting, root } = props;
  return (
    <Form method="post" action={`${root}${row.id}/close`} fields={hiddenFields(props)}>
      <h3>Close without merging?</h3>
      <p class="soft">A closed pull request can't be opened again. The branch stays as it is.</p>
      {acting === undefined && <TokenField id="close-token" />}
      <div class="actions">
        <Button variant="danger">Close without merging</Button>
        <ButtonLink href={`${root}${row.id}#decide`}>Cancel</ButtonLink>
      </div>
    </Form>
  );
}
