import type { ComponentChildren } from 'preact';
import { Confirm, type ConfirmProps } from '../../ui/components/confirm.tsx';
import { Text } from '../../ui/components/text.tsx';
import { TimeZone } from '../../ui/components/time.tsx';
import { Page, type PageProps } from '../../ui/page.tsx';
import type { Role } from '../store/members.ts';
import type { SignedMember } from './access.ts';
import { EVERYONE, MAKERS } from './pages.tsx';

/** Leads to the sites page of the same `galley up`. */
export const OPEN_SITES = '/ui/open-sites';

/** The page of a site, or of an agent's change, there. */
export function pathThere(kind: 'sites' | 'changes', id: string): string {
  return `${OPEN_SITES}?${new URLSearchParams({ to: `/ui/${kind}/${encodeURIComponent(id)}` })}`;
}

export const PATHS = {
  overview: '/',
  projects: '/ui/projects',
  exports: '/ui/exports',
  agents: '/ui/agents',
  keys: '/ui/settings/keys',
  members: '/ui/settings/members',
  audit: '/ui/settings/audit',
  account: '/ui/account',
} as const;

type Section = keyof typeof PATHS;

const NAV: readonly { section: Section; label: string; roles?: readonly Role[] }[] = [
  { section: 'overview', label: 'Overview' },
  { section: 'projects', label: 'Projects' },
  { section: 'exports', label: 'Exports' },
  { section: 'agents', label: 'Agent jobs' },
  { section: 'keys', label: 'API keys', roles: MAKERS },
  { section: 'members', label: 'Members' },
  { section: 'audit', label: 'Audit log', roles: MAKERS },
];

export type MemberLayoutProps = Pick<PageProps, 'title' | 'crumbs' | 'messages'> & {
  signed: SignedMember;
  section: Section;
  children: ComponentChildren;
};

/** The layout of the pages behind the sign-in. */
export function MemberLayout({ signed, section, children, ...page }: MemberLayoutProps) {
  return (
    <Page
      {...page}
      nav={[
        ...(signed.sites !== undefined ? [{ label: 'Sites', href: OPEN_SITES }] : []),
        ...NAV.filter(({ roles = EVERYONE }) => roles.includes(signed.membership.role)).map((item) => ({
          ...{ label: item.label, href: PATHS[item.section], current: item.section === section },
        })),
        ...(signed.sites?.temporal ? [{ label: 'Temporal', href: signed.sites.temporal.url }] : []),
      ]}
      account={{ name: signed.user.name, href: PATHS.account, csrf: signed.csrf }}
      footer={
        <>
          <Text>{signed.membership.organization}</Text>, plan {signed.membership.plan}. Your role:{' '}
          {signed.membership.role}. <TimeZone /> <a href="/docs">API documentation</a>
        </>
      }
    >
      {children}
    </Page>
  );
}

/** A job's workflow in Temporal's UI, for who may open the sites page. */
export function WorkflowLink({ signed, id }: { signed: SignedMember; id: string }) {
  const url = signed.sites?.temporal?.workflowUrl(id);
  return url === undefined ? null : <a href={url}>Workflow in Temporal</a>;
}

type ConfirmPageProps = Pick<MemberLayoutProps, 'signed' | 'section'> &
  Omit<ConfirmProps, 'csrf' | 'cancelHref'> & { cancelHref?: string };

/** A page that asks before it acts. */
export function ConfirmPage({ signed, section, cancelHref = PATHS[section], ...confirm }: ConfirmPageProps) {
  const label = NAV.find((item) => item.section === section)?.label ?? 'Your account';
  const crumbs = [{ label, href: PATHS[section] }];
  return (
    <MemberLayout signed={signed} section={section} title={confirm.question.replace('?', '')} crumbs={crumbs}>
      <Confirm {...confirm} csrf={signed.csrf} cancelHref={cancelHref} />
    </MemberLayout>
  );
}

/** A page's path below a section, with its parts escaped. */
export function pathOf(section: Section, ...below: string[]): string {
  return [PATHS[section], ...below.map(encodeURIComponent)].join('/');
}
