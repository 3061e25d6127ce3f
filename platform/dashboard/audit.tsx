import type { Router } from 'express';
import { EmptyState } from '../../ui/components/empty-state.tsx';
import { None } from '../../ui/components/none.tsx';
import { Pager } from '../../ui/components/pager.tsx';
import { Panel } from '../../ui/components/panel.tsx';
import { Table } from '../../ui/components/table.tsx';
import { Text } from '../../ui/components/text.tsx';
import { RelativeTime } from '../../ui/components/time.tsx';
import { queryOf } from '../../web/request.ts';
import { type AuditRow, listActions } from '../store/audit-log.ts';
import type { DashboardContext } from './dashboard-context.ts';
import { MemberLayout, type MemberLayoutProps, PATHS } from './layout.tsx';
import { addPage, MAKERS } from './pages.tsx';

const PAGE_SIZE = 50;

const ACTIONS: Readonly<Record<string, string>> = {
  'session.sign-in': 'Signed in',
  'session.sign-out': 'Signed out',
  'session.end-all': 'Signed out everywhere',
  'password.reset': 'Set a new password',
  'member.join': 'Joined',
  'member.invite': 'Invited',
  'member.uninvite': 'Canceled an invitation',
  'member.role': 'Changed a role',
  'member.remove': 'Removed a member',
  'key.create': 'Created a key',
  'key.revoke': 'Revoked a key',
  'project.add': 'Added a project',
  'project.set': 'Changed a project',
  'project.remove': 'Removed a project',
  'export.start': 'Started an export',
  'export.cancel': 'Canceled an export',
  'agent.create': 'Created an agent job',
  'agent.message': 'Sent a message to an agent',
  'agent.cancel': 'Canceled an agent job',
  'agent.archive': 'Archived an agent job',
  'pull.review': 'Reviewed a pull request',
  'pull.merge': 'Merged a pull request',
  'pull.close': 'Closed a pull request',
};

/** Who did what, newest first. */
export function addAuditRoutes(router: Router, { db, now }: DashboardContext): void {
  addPage(router, {
    path: PATHS.audit,
    roles: MAKERS,
    async show(request, signed) {
      const before = queryOf(request, 'before');
      const beforeId = /^\d{1,15}$/.test(before) ? Number(before) : undefined;
      const { organizationId } = signed.caller;
      const rows = await listActions(db, { organizationId, beforeId, limit: PAGE_SIZE + 1 });
      const isFirst = beforeId === undefined;
      return <AuditPage signed={signed} rows={rows} isFirst={isFirst} now={now()} />;
    },
  });
}

type AuditProps = Pick<MemberLayoutProps, 'signed'> & { rows: readonly AuditRow[]; isFirst: boolean; now: Date };

function AuditPage({ signed, rows, isFirst, now }: AuditProps) {
  const shown = rows.slice(0, PAGE_SIZE);
  const last = rows.length > PAGE_SIZE ? shown.at(-1) : undefined;
  return (
    <MemberLayout signed={signed} section="audit" title="Audit log">
      <h1>Audit log</h1>
      <Panel>
        {shown.length === 0 ? <EmptyState title="Nothing was done yet" /> : <AuditTable rows={shown} now={now} />}
      </Panel>
      {(last !== undefined || !isFirst) && (
        <Pager
          summary={`${shown.length} entries`}
          firstHref={isFirst ? undefined : PATHS.audit}
          nextHref={last && `${PATHS.audit}?before=${last.id}`}
        />
      )}
    </MemberLayout>
  );
}

function AuditTable({ rows, now }: { rows: readonly AuditRow[]; now: Date }) {
  return (
    <Table
      caption="Who did what"
      rows={rows}
      keyOf={({ id }) => String(id)}
      columns={[
        { label: 'When', cell: ({ at }) => <RelativeTime at={at} now={now} /> },
        {
          label: 'Who',
          cell: ({ actorKind, actorName }) => (
            <>
              <Text>{actorName}</Text>
              {actorKind !== 'member' && <span class="soft"> ({actorKind})</span>}
            </>
          ),
        },
        { label: 'Action', cell: ({ action }) => ACTIONS[action] ?? action },
        { label: 'Target', cell: (row) => <AuditedTarget row={row} /> },
        { label: 'Detail', cell: ({ detail }) => (detail ? <Text>{detail}</Text> : <None />) },
      ]}
    />
  );
}

function AuditedTarget({ row: { target, action } }: { row: AuditRow }) {
  if (action.startsWith('export.')) return <a href={`${PATHS.exports}/${target}`}>{target}</a>;
  if (action.startsWith('agent.')) return <a href={`${PATHS.agents}/${target}`}>{target}</a>;
  if (action.startsWith('pull.')) return <a href={`/pulls/${target}`}>{target.slice(0, 11)}…</a>;
  return <Text>{target}</Text>;
}
