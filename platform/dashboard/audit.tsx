import { once } from 'node:events';
import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { EmptyState } from '../../ui/components/empty-state.tsx';
import { Button, ButtonLink, Field, Form, Select } from '../../ui/components/form.tsx';
import { None } from '../../ui/components/none.tsx';
import { Pager } from '../../ui/components/pager.tsx';
import { Panel } from '../../ui/components/panel.tsx';
import { Table } from '../../ui/components/table.tsx';
import { Text } from '../../ui/components/text.tsx';
import { RelativeTime } from '../../ui/components/time.tsx';
import { Title } from '../../ui/components/title.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { HttpError } from '../../web/http-error.ts';
import { listPath } from '../../web/list-path.ts';
import { queryOf } from '../../web/request.ts';
import { PAGE_HEADERS } from '../../web/send-page.ts';
import { addRoute } from '../api/add-route.ts';
import { type AuditFilter, type AuditRow, listActions, listActorNames } from '../store/audit-log.ts';
import { isStorable } from '../store/storable-text.ts';
import { requireRole, signedOf } from './access.ts';
import type { DashboardContext } from './dashboard-context.ts';
import { MemberLayout, type MemberLayoutProps, PATHS } from './layout.tsx';
import { addPage, MAKERS } from './pages.tsx';

const PAGE_SIZE = 50;

const ACTIONS: Readonly<Record<string, string>> = {
  'session.sign-in': 'Signed in',
  'session.link': 'Signed in as the owner, from the sites page',
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
  'key.rotate': 'Replaced a key',
  'organization.rename': 'Renamed the organization',
  'project.add': 'Added a project',
  'project.set': 'Changed a project',
  'project.move': 'Moved a project',
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
      const asked = readQuery(request);
      const rows = await listActions(db, { organizationId, beforeId, limit: PAGE_SIZE + 1, ...filterOf(asked) });
      const people = await listActorNames(db, organizationId);
      return <AuditPage {...{ signed, rows, people, asked, isFirst: beforeId === undefined, now: now() }} />;
    },
  });
  addRoute(router, CSV, {
    get: [requireRole(...MAKERS), (request, response) => sendCsv(db, request, response)],
  });
}

const CSV = `${PATHS.audit}/audit-log.csv`;

/** Empty: any. */
type Asked = { person: string; from: string; to: string };

function readQuery(request: Request): Asked {
  const [person = '', from = '', to = ''] = ['person', 'from', 'to'].map((name) => queryOf(request, name).trim());
  return { person, from, to };
}

const DAY_MS = 86_400_000;

/** Days are in UTC, and both are included. Throws an `HttpError` 400. */
function filterOf({ person, from, to }: Asked): AuditFilter {
  const [first, last] = [dayOf('from', from), dayOf('to', to)];
  const until = last && new Date(last.getTime() + DAY_MS);
  return { ...(person !== '' && isStorable(person) && { person }), from: first, until };
}

function dayOf(name: string, text: string): Date | undefined {
  if (text === '') return undefined;
  const day = z.iso.date().safeParse(text);
  if (!day.success) throw new HttpError(400, `${name}: expected a date such as 2026-01-31`);
  return new Date(day.data);
}

const CSV_COLUMNS = ['at', 'actorKind', 'actorName', 'action', 'target', 'detail'] as const;
const CSV_BATCH = 1_000;

/** All that the filter shows, in batches: a log may be long. */
async function sendCsv(db: DashboardContext['db'], request: Request, response: Response): Promise<void> {
  const { organizationId } = signedOf(request).caller;
  const filter = filterOf(readQuery(request));
  response.set(PAGE_HEADERS).attachment('audit-log.csv').type('csv');
  response.write(`${CSV_COLUMNS.join(',')}\r\n`);
  let beforeId: number | undefined;
  do {
    const rows = await listActions(db, { organizationId, beforeId, limit: CSV_BATCH, ...filter });
    const lines = rows.map((row) => CSV_COLUMNS.map((name) => csvCell(row[name])).join(','));
    const isTaken = rows.length === 0 || response.write(`${lines.join('\r\n')}\r\n`);
    if (!isTaken && !response.destroyed) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    beforeId = rows.length < CSV_BATCH ? undefined : rows.at(-1)?.id;
  } while (beforeId !== undefined && !response.destroyed);
  response.end();
}

/** With an apostrophe before what a spreadsheet would take for a formula. */
function csvCell(value: Date | string | null): string {
  const text = value instanceof Date ? value.toISOString() : (value ?? '');
  return `"${/^[=+\-@\t\r]/.test(text) ? "'" : ''}${text.replaceAll('"', '""')}"`;
}

type AuditProps = Pick<MemberLayoutProps, 'signed'> & {
  rows: readonly AuditRow[];
  people: readonly string[];
  asked: Asked;
  isFirst: boolean;
  now: Date;
};

function AuditPage({ signed, rows, people, asked, isFirst, now }: AuditProps) {
  const options = [{ value: '', label: 'Any' }, ...people.map((name) => ({ value: name, label: visibleText(name) }))];
  const href = (path: string, more: Record<string, string> = {}) => listPath(path, { ...asked, ...more });
  const shown = rows.slice(0, PAGE_SIZE);
  const last = rows.length > PAGE_SIZE ? shown.at(-1) : undefined;
  return (
    <MemberLayout signed={signed} section="audit" title="Audit log">
      <Title title="Audit log">
        <search>
          <Form action={PATHS.audit} inline>
            <Select label="Person" name="person" value={asked.person} options={options} />
            <Field label="From" name="from" type="date" value={asked.from} />
            <Field label="To" name="to" type="date" value={asked.to} />
            <Button icon="search">Filter</Button>
            <ButtonLink href={href(CSV)}>Export CSV</ButtonLink>
          </Form>
        </search>
      </Title>
      <Panel>{shown.length === 0 ? <EmptyState title="No entries" /> : <AuditTable rows={shown} now={now} />}</Panel>
      {(last !== undefined || !isFirst) && (
        <Pager
          summary={`${shown.length} entries`}
          firstHref={isFirst ? undefined : href(PATHS.audit)}
          nextHref={last && href(PATHS.audit, { before: String(last.id) })}
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
