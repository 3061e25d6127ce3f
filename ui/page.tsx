import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { assetPath } from './assets.ts';
import { ActionButton } from './components/form.tsx';
import { Icon, Logo } from './components/icon.tsx';
import { Message, type MessageKind } from './components/message.tsx';
import { Text } from './components/text.tsx';
import { type RenderForeign, renderWithForeign } from './foreign/foreign.tsx';
import { visibleText } from './visible-text.ts';

type NavItem = { label: string; href: string; current?: boolean };

/** A page above this one. */
export type Crumb = { label: string; href: string };

export type PageProps = {
  title: string;
  /** The name beside the logo, which links to the start page. */
  name: string;
  nav?: readonly NavItem[];
  /** Who is signed in, with the link to their account and the CSRF token to sign out. */
  account?: { name: string; href?: string; csrf: string };
  crumbs?: readonly Crumb[];
  messages?: readonly { kind: MessageKind; text: ComponentChildren }[];
  /** The content at the end of the page, beside the program's version. */
  footer?: ComponentChildren;
  /** A single short form, such as to sign in. */
  narrow?: boolean;
  /** Loads no script. */
  isStatic?: boolean;
  children: ComponentChildren;
};

/** No styles of htmx's own, no cache of pages, and errors don't replace content. */
const HTMX_CONFIG = JSON.stringify({
  extensions: 'sse',
  includeIndicatorCSS: false,
  history: false,
  noSwap: [204, 304, '4xx', '5xx'],
});

const SCRIPTS = ['htmx', 'htmxSse', 'script'] as const;

/** The layout of every page. */
export function Page(props: PageProps) {
  const { title, name, nav = [], account, crumbs = [], messages = [], footer, narrow = false, isStatic } = props;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex, nofollow" />
        {!isStatic && <meta name="htmx-config" content={HTMX_CONFIG} />}
        <title>{`${title} · ${name}`}</title>
        <link rel="icon" href={assetPath('favicon')} />
        <link rel="stylesheet" href={assetPath('style')} />
        {!isStatic && SCRIPTS.map((script) => <script key={script} src={assetPath(script)} defer />)}
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header class="header">
          <div class="wrap">
            <a class="home" href="/">
              <Logo />
              <span>{name}</span>
            </a>
            {nav.length > 0 && (
              <nav class="nav" aria-label="Main">
                {nav.map(({ label, href, current = false }) => (
                  <a key={href} href={href} aria-current={current ? 'page' : undefined}>
                    {label}
                  </a>
                ))}
              </nav>
            )}
            {account !== undefined && <Account {...account} />}
          </div>
        </header>
        <main class={narrow ? 'wrap narrow' : 'wrap'} id="main" tabIndex={-1}>
          {crumbs.length > 0 && <Crumbs crumbs={crumbs} />}
          {messages.map(({ kind, text }) => (
            <Message key={text} kind={kind}>
              {text}
            </Message>
          ))}
          {props.children}
        </main>
        <footer class="footer">
          <div class="wrap">{footer ?? 'Galley'}</div>
        </footer>
      </body>
    </html>
  );
}

function Account({ name, href, csrf }: NonNullable<PageProps['account']>) {
  const who = (
    <>
      <Icon name="user" />
      <Text>{name}</Text>
    </>
  );
  return (
    <div class="account">
      {href === undefined ? (
        <span class="account-name">{who}</span>
      ) : (
        <a class="account-name" href={href}>
          {who}
        </a>
      )}
      <ActionButton action="/ui/sign-out" csrf={csrf}>
        Sign out
      </ActionButton>
    </div>
  );
}

function Crumbs({ crumbs }: { crumbs: readonly Crumb[] }) {
  return (
    <nav class="crumbs" aria-label="Breadcrumb">
      {crumbs.map(({ label, href }) => (
        <a key={href} href={href}>
          {label}
        </a>
      ))}
    </nav>
  );
}

/**
 * The HTML of a page or of a part, such as a live one, with foreign parts as plain text. Hidden characters of all texts
 * and attributes are shown.
 */
export function renderPart(part: VNode): string {
  return visibleText(renderToString(part), { multiline: true });
}

/** The same with foreign parts as `renderForeign` renders them, or as plain text if that takes too long. */
export async function renderWhole(part: VNode, renderForeign: RenderForeign): Promise<string> {
  const html = await renderWithForeign(part, renderForeign);
  return html === undefined ? renderPart(part) : visibleText(html, { multiline: true });
}
