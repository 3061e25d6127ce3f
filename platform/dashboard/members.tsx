import type { Request, Router } from 'express';
import { z } from 'zod';
import { CopyField } from '../../ui/components/code.tsx';
import { EmptyState } from '../../ui/components/empty-state.tsx';
import { Button, ButtonLink, Checkbox, Field, Form, Select } from '../../ui/components/form.tsx';
import { Panel } from '../../ui/components/panel.tsx';
import { Table } from '../../ui/components/table.tsx';
import { Text } from '../../ui/components/text.tsx';
import { RelativeTime } from '../../ui/components/time.tsx';
import { HttpError } from '../../web/http-error.ts';
import { fieldOf } from '../../web/request.ts';
import { revokeOwnKey } from '../admin/api-keys.ts';
import { removeOrganization, setOrganization } from '../admin/organizations.ts';
import { label } from '../admin/text.ts';
import { parseInput } from '../parse-input.ts';
import { type ApiKeyRow, type Caller, listOrganizationKeys } from '../store/api-keys.ts';
import { recordAction } from '../store/audit-log.ts';
import { listMembers, listPendingInvitations, type MemberRow, ROLES } from '../store/members.ts';
import { asSession, invitationPath, type SignedMember, succeed } from './access.ts';
import type { DashboardContext } from './dashboard-context.ts';
import { messagesOf, withMessage } from './done-messages.ts';
import { ConfirmPage, MemberLayout, type MemberLayoutProps, PATHS, pathOf } from './layout.tsx';
import { addAction, addConfirmed, addPage, OWNERS } from './pages.tsx';

const invitee = z.object({
  email: z.email('expected an address such as ada@example.com').max(254),
  role: z.enum(ROLES, { error: 'expected owner, developer or reviewer' }),
});

const organizationName = z.object({ name: label });

/** Members of the organization, their roles, and invitations. Better Auth checks each change again. */
export function addMemberRoutes(router: Router, context: DashboardContext): void {
  const { db } = context;
  const show = async (request: Request, signed: SignedMember) => {
    const { organizationId } = signed.caller;
    const isOwner = signed.membership.role === 'owner';
    return (
      <MembersPage
        signed={signed}
        messages={messagesOf(request)}
        members={await listMembers(db, organizationId)}
        invitations={isOwner ? await listPendingInvitations(db, organizationId) : []}
        publicUrl={context.publicUrl()}
        now={context.now()}
      />
    );
  };
  addPage(router, {
    path: PATHS.members,
    show,
    actors: OWNERS,
    async act(request, { caller }) {
      const asked = { email: fieldOf(request, 'email').trim(), role: fieldOf(request, 'role') };
      const { email, role } = parseInput(invitee, asked);
      const body = { email, role, organizationId: caller.organizationId };
      const answer = await (await context.auth()).api.createInvitation({ body, ...asSession(request) });
      await succeed(answer, 409, 'The invitation could not be created');
      await recordAction(db, { ...caller, action: 'member.invite', target: email, detail: role });
      return withMessage(PATHS.members, (await mailInvitation(context, caller, email)) ? 'invited-by-mail' : 'invited');
    },
  });
  addAction(
    router,
    `${PATHS.members}/organization`,
    OWNERS,
    async (request, { caller, membership: { organization } }) => {
      const { name } = parseInput(organizationName, { name: fieldOf(request, 'name').trim() });
      if (name !== organization) {
        await setOrganization(db, { organization, name });
        await recordAction(db, {
          ...caller,
          action: 'organization.rename',
          target: name,
          detail: `was ${organization}`,
        });
      }
      return withMessage(PATHS.members, 'organization-renamed');
    },
    show,
  );
  addConfirmed(router, `${PATHS.members}/organization/remove`, OWNERS, {
    show: async (_request, signed) => <RemoveOrganizationPage signed={signed} />,
    async act(request, { membership: { organization } }) {
      if (fieldOf(request, 'name').trim() !== organization)
        throw new HttpError(400, `name: expected ${organization}, the organization that is removed`);
      await removeOrganization(db, organization);
      return withMessage(PATHS.overview, 'organization-removed');
    },
  });
  addMemberActions(router, context);
}

function RemoveOrganizationPage({ signed }: { signed: SignedMember }) {
  const { organization } = signed.membership;
  return (
    <ConfirmPage
      {...{ signed, section: 'members', question: 'Remove the organization?', confirmLabel: 'Remove the organization' }}
      action={pathOf('members', 'organization', 'remove')}
      inputs={<Field label="Name of the organization" name="name" maxLength={200} required />}
    >
      <p>
        <Text>{organization}</Text> is removed with its keys, members and audit log. Its projects must have been removed
        or moved before; accounts stay. This can't be undone: enter its name.
      </p>
    </ConfirmPage>
  );
}

/** False if the platform sends no mail, or the mail server didn't take it: the link is on the page. */
async function mailInvitation(context: DashboardContext, { organizationId }: Caller, email: string): Promise<boolean> {
  const { db, sendMail, publicUrl, logger } = context;
  const open = await listPendingInvitations(db, organizationId);
  const invitation = open.find((each) => each.email === email.toLowerCase());
  if (sendMail === undefined || invitation === undefined) return false;
  const url = publicUrl() + invitationPath(invitation.id);
  const text = `You are invited to Galley as ${invitation.role}. Join here, once within 7 days:\n\n${url}\n`;
  try {
    await sendMail({ to: email, subject: 'Your invitation to Galley', text });
    return true;
  } catch (error) {
    logger.error({ err: error }, 'The mail of an invitation could not be sent');
    return false;
  }
}

function addMemberActions(router: Router, context: DashboardContext): void {
  const { db } = context;
  const memberOf = async ({ caller }: SignedMember, id: unknown): Promise<MemberRow> => {
    const member = (await listMembers(db, caller.organizationId)).find((each) => each.id === id);
    if (member === undefined) throw new HttpError(404, 'There is no such member');
    return member;
  };
  addAction(router, `${PATHS.members}/:id/role`, OWNERS, async (request, signed) => {
    const { id, email } = await memberOf(signed, request.params.id);
    const { role } = parseInput(invitee.pick({ role: true }), { role: fieldOf(request, 'role') });
    const body = { memberId: id, role, organizationId: signed.caller.organizationId };
    const answer = await (await context.auth()).api.updateMemberRole({ body, ...asSession(request) });
    await succeed(answer, 409, 'The role could not be changed');
    await recordAction(db, { ...signed.caller, action: 'member.role', target: email, detail: role });
    return withMessage(PATHS.members, 'role-changed');
  });
  const keysOf = async ({ caller: { organizationId } }: SignedMember, { email }: MemberRow): Promise<ApiKeyRow[]> =>
    (await listOrganizationKeys(db, organizationId)).filter((key) => key.createdBy === email && key.revokedAt === null);
  addConfirmed(router, `${PATHS.members}/:id/remove`, OWNERS, {
    async show(request, signed) {
      const member = await memberOf(signed, request.params.id);
      const keys = await keysOf(signed, member);
      return <RemoveMemberPage signed={signed} member={member} keys={keys} now={context.now()} />;
    },
    async act(request, signed) {
      const { caller } = signed;
      const member = await memberOf(signed, request.params.id);
      const chosen = (await keysOf(signed, member)).filter(({ id }) => fieldOf(request, `revoke-${id}`) === 'yes');
      const body = { memberIdOrEmail: member.id, organizationId: caller.organizationId };
      const answer = await (await context.auth()).api.removeMember({ body, ...asSession(request) });
      await succeed(answer, 409, 'The member could not be removed');
      await recordAction(db, { ...caller, action: 'member.remove', target: member.email });
      for (const { id } of chosen) await revokeOwnKey(db, caller, id);
      return withMessage(PATHS.members, 'member-removed');
    },
  });
  const invitationOf = async ({ caller }: SignedMember, id: unknown): Promise<Invitation> => {
    const open = await listPendingInvitations(db, caller.organizationId);
    const invitation = open.find((each) => each.id === id);
    if (invitation === undefined) throw new HttpError(404, 'There is no such invitation');
    return invitation;
  };
  addConfirmed(router, `${PATHS.members}/invitations/:id/cancel`, OWNERS, {
    async show(request, signed) {
      const { id, email } = await invitationOf(signed, request.params.id);
      const asked = { question: 'Cancel this invitation?', confirmLabel: 'Cancel the invitation' };
      return (
        <ConfirmPage
          {...{ signed, section: 'members', ...asked }}
          action={pathOf('members', 'invitations', id, 'cancel')}
        >
          <p>
            The link that <Text>{email}</Text> has no longer works.
          </p>
        </ConfirmPage>
      );
    },
    async act(request, signed) {
      const { id, email } = await invitationOf(signed, request.params.id);
      const body = { invitationId: id };
      const answer = await (await context.auth()).api.cancelInvitation({ body, ...asSession(request) });
      await succeed(answer, 409, 'The invitation could not be canceled');
      await recordAction(db, { ...signed.caller, action: 'member.uninvite', target: email });
      return withMessage(PATHS.members, 'invitation-canceled');
    },
  });
}

type Invitation = Awaited<ReturnType<typeof listPendingInvitations>>[number];

type MembersProps = Pick<MemberLayoutProps, 'signed' | 'messages'> & {
  members: readonly MemberRow[];
  invitations: readonly Invitation[];
  publicUrl: string;
  now: Date;
};

const ROLE_OPTIONS = ROLES.map((role) => ({ value: role, label: role }));

function MembersPage({ signed, members, invitations, publicUrl, now, ...layout }: MembersProps) {
  const isOwner = signed.membership.role === 'owner';
  return (
    <MemberLayout {...layout} signed={signed} section="members" title="Members">
      <h1>Members</h1>
      <Panel>
        <MemberTable signed={signed} members={members} now={now} />
        {!isOwner && <p class="soft small">Owners invite people and change roles.</p>}
      </Panel>
      {isOwner && (
        <Panel title="Invite a person">
          <p class="soft">
            Owners manage members and do everything else. Developers manage projects, keys, exports and agent jobs.
            Reviewers read, and decide about pull requests.
          </p>
          <Form action={PATHS.members} csrf={signed.csrf} inline>
            <Field label="Email" name="email" type="email" maxLength={254} required />
            <Select label="Role" name="role" value="reviewer" options={ROLE_OPTIONS} />
            <Button variant="primary" icon="mail">
              Invite
            </Button>
          </Form>
        </Panel>
      )}
      {isOwner && (
        <Panel title="Organization">
          <Form action={pathOf('members', 'organization')} csrf={signed.csrf} inline>
            <Field label="Name" name="name" value={signed.membership.organization} maxLength={200} required />
            <Button>Rename</Button>
            <ButtonLink href={pathOf('members', 'organization', 'remove')} variant="danger">
              Remove
            </ButtonLink>
          </Form>
        </Panel>
      )}
      {isOwner && (
        <Panel title="Open invitations">
          {invitations.length === 0 && <EmptyState title="No open invitations" />}
          {invitations.map(({ id, email, role, expiresAt }) => (
            <div key={id} class="row">
              <CopyField
                id={`invitation-${id}`}
                label={`Link for ${email} (${role ?? ''})`}
                value={publicUrl + invitationPath(id)}
              />
              <div class="actions">
                <span class="soft small">
                  Expires <RelativeTime at={expiresAt} now={now} />
                </span>
                <ButtonLink
                  href={pathOf('members', 'invitations', id, 'cancel')}
                  variant="danger"
                  label={`Cancel the invitation of ${email}`}
                >
                  Cancel
                </ButtonLink>
              </div>
            </div>
          ))}
        </Panel>
      )}
    </MemberLayout>
  );
}

function MemberTable({ signed, members, now }: Pick<MembersProps, 'signed' | 'members' | 'now'>) {
  const isOwner = signed.membership.role === 'owner';
  return (
    <Table
      caption="Members"
      rows={members}
      keyOf={({ id }) => id}
      columns={[
        { label: 'Name', kind: 'main', cell: ({ name }) => <Text>{name}</Text> },
        { label: 'Email', cell: ({ email }) => <Text>{email}</Text> },
        { label: 'Role', cell: ({ role }) => role },
        { label: 'Member since', cell: ({ createdAt }) => <RelativeTime at={createdAt} now={now} /> },
        {
          label: 'Actions',
          kind: 'actions',
          cell: ({ id, role, email, userId }) =>
            isOwner &&
            userId !== signed.user.id && (
              <div class="actions">
                <Form action={pathOf('members', id, 'role')} csrf={signed.csrf} inline>
                  <Select label={`Role of ${email}`} isLabelHidden name="role" value={role} options={ROLE_OPTIONS} />
                  <Button label={`Change the role of ${email}`}>Change</Button>
                </Form>
                <ButtonLink href={pathOf('members', id, 'remove')} variant="danger" label={`Remove ${email}`}>
                  Remove
                </ButtonLink>
              </div>
            ),
        },
      ]}
    />
  );
}

/** A form has at most 40 fields. */
const MAX_KEYS = 30;

type RemoveMemberProps = { signed: SignedMember; member: MemberRow; keys: readonly ApiKeyRow[]; now: Date };

/** Asks which of the member's keys to revoke: programs may need them. */
function RemoveMemberPage({ signed, member, keys, now }: RemoveMemberProps) {
  const more = keys.length - MAX_KEYS;
  const choices = keys.slice(0, MAX_KEYS).map(({ id, name, prefix, lastUsedAt }) => {
    const used = lastUsedAt === null ? 'never used' : `last used ${lastUsedAt.toISOString().slice(0, 16)}Z`;
    return <Checkbox key={id} name={`revoke-${id}`} value="yes" label={`Revoke ${name ?? ''} ${prefix}…, ${used}`} />;
  });
  return (
    <ConfirmPage
      {...{ signed, section: 'members', question: 'Remove this member?', confirmLabel: 'Remove the member' }}
      action={pathOf('members', member.id, 'remove')}
      inputs={choices}
    >
      <p>
        <Text>{member.name}</Text> (<Text>{member.email}</Text>, since <RelativeTime at={member.createdAt} now={now} />)
        can no longer see or change anything of the organization.
      </p>
      {keys.length > 0 && (
        <p>
          They created {keys.length === 1 ? 'an API key' : `${keys.length} API keys`} and may still know them. Keys that
          you don't choose stay valid.
          {more > 0 && ` ${more} more are under API keys.`}
        </p>
      )}
    </ConfirmPage>
  );
}
