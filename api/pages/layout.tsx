import type { ComponentChildren } from 'preact';
import { TimeZone } from '../../ui/components/time.tsx';
import { Page, type PageProps } from '../../ui/page.tsx';
import type { SignedOperator } from './access.ts';

export type OperatorLayoutProps = Pick<PageProps, 'title' | 'crumbs' | 'messages'> & {
  signed: SignedOperator;
  /** The URL of Temporal's UI, if known. */
  temporalUiUrl?: string | undefined;
  children: ComponentChildren;
};

/** The layout of the pages behind the sign-in. */
export function OperatorLayout({ signed, temporalUiUrl, children, ...page }: OperatorLayoutProps) {
  return (
    <Page
      {...page}
      name="Galley"
      nav={[{ label: 'Sites', href: '/', current: true }]}
      account={{ name: signed.session.name, csrf: signed.csrf }}
      footer={
        <>
          Galley's orchestrator. <TimeZone />
          {temporalUiUrl !== undefined && (
            <>
              {' '}
              <a href={temporalUiUrl}>Temporal's UI</a>
            </>
          )}
        </>
      }
    >
      {children}
    </Page>
  );
}

/** The URL of a workflow in Temporal's UI. */
export function workflowUrl(temporalUiUrl: string, namespace: string, workflowId: string): string {
  const base = temporalUiUrl.replace(/\/+$/, '');
  return `${base}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowId)}`;
}

/** The path of a site's page. */
export function sitePath(site: string, ...below: string[]): string {
  return ['/ui/sites', site, ...below].map((part, index) => (index === 0 ? part : encodeURIComponent(part))).join('/');
}

/** The path of a change's page. */
export function changePath(workflowId: string): string {
  return `/ui/changes/${encodeURIComponent(workflowId)}`;
}
