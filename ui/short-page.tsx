import type { ComponentChildren } from 'preact';
import { type Crumb, Page, type PageProps } from './page.tsx';

type ShortPageProps = Pick<PageProps, 'title' | 'isStatic'> & {
  /** If it differs from the page's title. */
  heading?: ComponentChildren;
  children: ComponentChildren;
};

/** A page with one short text or form, such as to sign in. */
export function ShortPage({ heading, children, ...page }: ShortPageProps) {
  return (
    <Page {...page} narrow>
      <section class="panel">
        <h1>{heading ?? page.title}</h1>
        {children}
      </section>
    </Page>
  );
}

type ErrorPageProps = { status: number; message: string; back?: Crumb | undefined };

/** An error on a page, with a way on. */
export function ErrorPage({ status, message, back }: ErrorPageProps) {
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  return (
    <ShortPage title={TITLES[status] ?? 'That did not work'} isStatic>
      <p>{/[.!?]$/.test(sentence) ? sentence : `${sentence}.`}</p>
      {back !== undefined && (
        <p>
          <a href={back.href}>{back.label}</a>
        </p>
      )}
    </ShortPage>
  );
}

const TITLES: Record<number, string> = {
  403: 'Not allowed',
  404: 'Not found',
  429: 'Too many attempts',
  500: 'Something went wrong',
  503: 'Not available now',
};
