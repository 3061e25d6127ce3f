import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { assetPath } from './assets.ts';
import { Header, type HeaderProps } from './components/header.tsx';
import { Message, type MessageKind } from './components/message.tsx';
import { type RenderForeign, renderWithForeign } from './foreign/foreign.tsx';
import { visibleText } from './visible-text.ts';

/** A page above this one. */
export type Crumb = { label: string; href: string };

export type PageProps = HeaderProps & {
  title: string;
  crumbs?: readonly Crumb[] | undefined;
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
  const { title, nav, account, crumbs = [], messages = [], footer, narrow = false, isStatic } = props;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex, nofollow" />
        {!isStatic && <meta name="htmx-config" content={HTMX_CONFIG} />}
        <title>{`${title} · Galley`}</title>
        <link rel="icon" href={assetPath('favicon')} />
        <link rel="stylesheet" href={assetPath('style')} />
        {!isStatic && SCRIPTS.map((script) => <script key={script} src={assetPath(script)} defer />)}
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <Header nav={nav} account={account} />
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
