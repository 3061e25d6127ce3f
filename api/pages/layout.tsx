import type { ComponentChildren } from 'preact';
import { TimeZone } from '../../ui/components/time.tsx';
import { Page, type PageProps } from '../../ui/page.tsx';
import type { SignedOperator } from './access.ts';

/** Leads to the dashboard of the same `galley up`. */
export const OPEN_DASHBOARD = '/ui/open-dashboard';

export type OperatorLayoutProps = Pick<PageProps, 'title' | 'crumbs' | 'messages'> & {
  signed: SignedOperator;
  children: ComponentChildren;
};

/** The layout of the pages behind the sign-in. */
export function OperatorLayout({ signed, children, ...page }: OperatorLayoutProps) {
  return (
    <Page
      {...page}
      nav={[
        { label: 'Sites', href: '/', current: true },
        ...(signed.dashboard ? [{ label: 'Dashboard', href: OPEN_DASHBOARD }] : []),
        ...(signed.temporalUiUrl ? [{ label: 'Temporal', href: signed.temporalUiUrl }] : []),
      ]}
      account={{ name: signed.session.name, csrf: signed.csrf }}
      footer={
        <>
          Galley's orchestrator. <TimeZone />
        </>
      }
    >
      {children}
    </Page>
  );
}

/** The page of an export or an agent job in the dashboard. */
export function dashboardPath(kind: 'exports' | 'agents', jobId: string): string {
  return `${OPEN_DASHBOARD}?${new URLSearchParams({ to: `/ui/${kind}/${encodeURIComponent(jobId)}` })}`;
}

/** The path of a site's page. */
export function sitePath(site: string, ...below: string[]): string {
  return ['/ui/sites', site, ...below].map((part, index) => (index === 0 ? part : encodeURIComponent(part))).join('/');
}

/** The path of a change's page. */
export function changePath(workflowId: string): string {
  return `/ui/changes/${encodeURIComponent(workflowId)}`;
}
