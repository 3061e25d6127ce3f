import type { Request, Router } from 'express';
import { Badge } from '../../ui/components/badge.tsx';
import { CopyField } from '../../ui/components/code.tsx';
import { EmptyState } from '../../ui/components/empty-state.tsx';
import { Button, ButtonLink, Field, Form, Select } from '../../ui/components/form.tsx';
import { Message } from '../../ui/components/message.tsx';
import { None } from '../../ui/components/none.tsx';
import { Panel } from '../../ui/components/panel.tsx';
import { Table } from '../../ui/components/table.tsx';
import { Text } from '../../ui/components/text.tsx';
import { RelativeTime } from '../../ui/components/time.tsx';
import { fieldOf } from '../../web/request.ts';
import {
  createOwnKey,
  createOwnKeyRequest,
  findOwnKey,
  revokeOwnKey,
  rotateOwnKey,
  rotateOwnKeyRequest,
} from '../admin/api-keys.ts';
import { parseInput } from '../parse-input.ts';
import { type ApiKeyRow, listOrganizationKeys } from '../store/api-keys.ts';
import { listOrganizationProjects, type Project } from '../store/projects.ts';
import type { SignedMember } from './access.ts';
import type { DashboardContext } from './dashboard-context.ts';
import { messagesOf, withMessage } from './done-messages.ts';
import { ConfirmPage, MemberLayout, type MemberLayoutProps, PATHS, pathOf } from './layout.tsx';
import { keepNewKey, takeNewKey } from './new-key-cookie.ts';
import { addConfirmed, addPage, MAKERS } from './pages.tsx';

/** Organization settings → API keys. */
export function addKeyRoutes(router: Router, context: DashboardContext): void {
  const { db, now } = context;
  const read = async (signed: SignedMember) => ({
    keys: await listOrganizationKeys(db, signed.caller.organizationId),
    projects: await listOrganizationProjects(db, signed.caller.organizationId),
    now: now(),
  });
  addPage(router, {
    path: PATHS.keys,
    roles: MAKERS,
    async show(request, signed, response) {
      const created = takeNewKey(context, { request, response, signed });
      return <KeysPage signed={signed} messages={messagesOf(request)} created={created} {...(await read(signed))} />;
    },
    actors: MAKERS,
    async act(request, signed, response) {
      const wanted = parseInput(createOwnKeyRequest, requestedKey(request));
      const created = await createOwnKey(db, signed.caller, wanted);
      keepNewKey(context, response, signed, created.key);
      return PATHS.keys;
    },
  });
  addConfirmed(router, `${PATHS.keys}/:id/rotate`, MAKERS, {
    async show(request, signed) {
      return <RotatePage signed={signed} apiKey={await findOwnKey(db, signed.caller, String(request.params.id))} />;
    },
    async act(request, signed, response) {
      const { id } = await findOwnKey(db, signed.caller, String(request.params.id));
      const { days } = parseInput(rotateOwnKeyRequest, { days: Number(fieldOf(request, 'days')) });
      const created = await rotateOwnKey(db, signed.caller, { id, days });
      keepNewKey(context, response, signed, created.key);
      return PATHS.keys;
    },
  });
  addConfirmed(router, `${PATHS.keys}/:id/revoke`, MAKERS, {
    async show(request, signed) {
      return <RevokePage signed={signed} apiKey={await findOwnKey(db, signed.caller, String(request.params.id))} />;
    },
    async act(request, { caller }) {
      await revokeOwnKey(db, caller, String(request.params.id));
      return withMessage(PATHS.keys, 'key-revoked');
    },
  });
}

function requestedKey(request: Request) {
  const [days, addresses] = [
    fieldOf(request, 'days'),
    fieldOf(request, 'addresses')
      .split(/[\s,]+/)
      .filter(Boolean),
  ];
  return {
    name: fieldOf(request, 'name'),
    ...(days.trim() !== '' && { days: Number(days) }),
    ...(addresses.length > 0 && { addresses }),
    ...(fieldOf(request, 'scope') !== '' && { scope: fieldOf(request, 'scope') }),
    ...(fieldOf(request, 'project') !== '' && { project: fieldOf(request, 'project') }),
  };
}

type KeysProps = Pick<MemberLayoutProps, 'signed' | 'messages'> & {
  keys: readonly ApiKeyRow[];
  projects: readonly Project[];
  now: Date;
  /** A new key, shown this once. */
  created: string | undefined;
};

const SCOPES = [
  { value: '', label: 'read and change' },
  { value: 'read', label: 'only read' },
] as const;

function KeysPage({ signed, keys, projects, now, created, ...layout }: KeysProps) {
  return (
    <MemberLayout {...layout} signed={signed} section="keys" title="API keys">
      <h1>API keys</h1>
      {created !== undefined && (
        <Panel title="The new key">
          <Message kind="warning">Copy it now: it is not shown again.</Message>
          <CopyField id="new-key" label="Admin API key" value={created} />
        </Panel>
      )}
      <Panel title="Project ids">
        {projects.length === 0 && <EmptyState title="No projects yet" />}
        {projects.map(({ id, domain }) => (
          <CopyField key={id} id={`project-${id}`} label={`Project of ${domain}`} value={id} />
        ))}
      </Panel>
      <Panel title="Create a key">
        <Form action={PATHS.keys} csrf={signed.csrf} inline>
          <Field label="Name" name="name" maxLength={200} required />
          <Select label="May" name="scope" value="" options={SCOPES} />
          <Select
            label="Project"
            name="project"
            value=""
            options={[{ value: '', label: 'all' }, ...projects.map(({ id, domain }) => ({ value: id, label: domain }))]}
          />
          <Field label="Expires after days (empty: never)" name="days" type="number" />
          <Field label="Addresses, such as 10.0.0.0/8 (empty: any)" name="addresses" />
          <Button variant="primary" icon="key">
            Create key
          </Button>
        </Form>
      </Panel>
      <Panel title="Keys">
        {keys.length === 0 ? <EmptyState title="No keys yet" /> : <KeyTable keys={keys} now={now} />}
      </Panel>
    </MemberLayout>
  );
}

function KeyTable({ keys, now }: { keys: readonly ApiKeyRow[]; now: Date }) {
  return (
    <Table
      caption="API keys"
      rows={keys}
      keyOf={({ id }) => id}
      columns={[
        {
          label: 'Name',
          kind: 'main',
          cell: ({ name }) => (name === null ? <None>unnamed</None> : <Text>{name}</Text>),
        },
        { label: 'Prefix', cell: ({ prefix }) => <code>{prefix}…</code> },
        { label: 'May', cell: ({ readOnly }) => (readOnly ? 'only read' : 'read and change') },
        { label: 'Project', cell: ({ projectId }) => projectId ?? 'all' },
        { label: 'State', cell: (key) => <KeyState apiKey={key} now={now} /> },
        {
          label: 'Created',
          cell: ({ createdAt, createdBy }) => (
            <>
              <RelativeTime at={createdAt} now={now} />{' '}
              <span class="soft">
                by <Text>{createdBy ?? 'an operator'}</Text>
              </span>
            </>
          ),
        },
        { label: 'Last used', cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} now={now} none="never" /> },
        { label: 'Expires', cell: ({ expiresAt }) => <RelativeTime at={expiresAt} now={now} none="never" /> },
        { label: 'Addresses', cell: ({ allowedAddresses }) => allowedAddresses?.join(', ') ?? 'any' },
        {
          label: 'Actions',
          kind: 'actions',
          cell: ({ id, revokedAt, name, prefix }) =>
            revokedAt === null && (
              <div class="actions">
                <ButtonLink href={pathOf('keys', id, 'rotate')} label={`Replace ${name ?? prefix}`}>
                  Replace
                </ButtonLink>
                <ButtonLink href={pathOf('keys', id, 'revoke')} variant="danger" label={`Revoke ${name ?? prefix}`}>
                  Revoke
                </ButtonLink>
              </div>
            ),
        },
      ]}
    />
  );
}

function KeyState({ apiKey: { revokedAt, expiresAt }, now }: { apiKey: ApiKeyRow; now: Date }) {
  if (revokedAt !== null) return <Badge tone="bad" label="Revoked" />;
  if (expiresAt !== null && expiresAt <= now) return <Badge tone="warn" label="Expired" />;
  return <Badge tone="good" label="Active" />;
}

function RotatePage({ signed, apiKey }: { signed: SignedMember; apiKey: ApiKeyRow }) {
  const days = <Field label="Days until the old key ends" name="days" type="number" value="7" required />;
  return (
    <ConfirmPage
      {...{ signed, section: 'keys', question: 'Replace this key?', confirmLabel: 'Create the new key' }}
      variant="primary"
      action={pathOf('keys', apiKey.id, 'rotate')}
      inputs={days}
    >
      <p>
        A new key has the same limits as <Text>{apiKey.name ?? apiKey.prefix}</Text> (<code>{apiKey.prefix}…</code>).
        Both are valid until the old one ends.
      </p>
    </ConfirmPage>
  );
}

function RevokePage({ signed, apiKey }: { signed: SignedMember; apiKey: ApiKeyRow }) {
  const name = apiKey.name ?? apiKey.prefix;
  return (
    <ConfirmPage
      {...{ signed, section: 'keys', question: 'Revoke this key?', confirmLabel: 'Revoke the key' }}
      action={pathOf('keys', apiKey.id, 'revoke')}
    >
      <p>
        Requests with <Text>{name}</Text> (<code>{apiKey.prefix}…</code>) are rejected at once. This can't be undone.
      </p>
    </ConfirmPage>
  );
}
