import { render } from 'preact-render-to-string';
import type { Proof, ProofPage } from '../contract/proof.ts';

/** Both sides of a difference (PNG). */
export type Excerpt = { url: string; viewport: 'desktop' | 'phone'; origin: Buffer; bundle: Buffer };

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #8888; padding: .35rem .5rem; text-align: start; vertical-align: top; overflow-wrap: anywhere; }
.pair { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); }
figure { margin: 0; }
img { border: 1px solid #8888; max-width: 100%; }
.scroll { overflow-x: auto; }
`;

const VERDICTS: Record<Proof['status'], string> = {
  passed: 'Passed: no page that was compared is different',
  failed: 'Failed: pages of the bundle are different',
  unknown: 'Unknown: no page could be compared',
};

/** Listed pages; `proof.json` has them all. */
const MAX_LISTED = 500;

/** `proof.html`: self-contained, without a script. */
export function renderProofPage(proof: Proof, excerpts: readonly Excerpt[]): string {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
  return `<!doctype html>${render(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content={policy} />
        <meta name="viewport" content="width=device-width" />
        <title>{`Proof of ${proof.domain}, ${proof.version}`}</title>
        <style dangerouslySetInnerHTML={{ __html: STYLE }} />
      </head>
      <body>
        <main>
          <h1>Proof of {proof.domain}</h1>
          <Summary proof={proof} />
          {proof.pages.some(({ status }) => status !== 'equal') && <Differences proof={proof} excerpts={excerpts} />}
          <h2>All pages that were opened</h2>
          <PagesTable pages={proof.pages} />
        </main>
      </body>
    </html>,
  )}`;
}

function Summary({ proof }: { proof: Proof }) {
  const { counts, status, version, browser, createdAt, contentSha256 } = proof;
  return (
    <>
      <p>
        <strong>{VERDICTS[status]}.</strong>
      </p>
      <p>
        {counts.pages} of {counts.pagesInBundle} pages, of {counts.templates} kinds, were opened at the origin and in
        the bundle without a network, at desktop and phone width: {counts.equal} are equal, {counts.different}{' '}
        different, {counts.unknown} unknown.
      </p>
      <p>
        Version {version}, {browser}, {createdAt.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')}. Content {contentSha256}.
      </p>
    </>
  );
}

function Differences({ proof, excerpts }: { proof: Proof; excerpts: readonly Excerpt[] }) {
  const pages = proof.pages.filter(({ status }) => status !== 'equal');
  return (
    <>
      <h2>What is different or unknown</h2>
      {pages.slice(0, MAX_LISTED).map((page) => (
        <section key={page.url}>
          <h3>{page.url}</h3>
          {page.reason !== null && <p>Unknown: {page.reason}.</p>}
          {page.findings.length > 0 && (
            <ul>
              {page.findings.map(({ kind, viewport, text }, index) => (
                <li key={index}>
                  {kind}
                  {viewport !== null && ` (${viewport})`}: {text}
                </li>
              ))}
            </ul>
          )}
          {excerpts
            .filter(({ url }) => url === page.url)
            .map((excerpt) => (
              <Pair key={excerpt.viewport} excerpt={excerpt} />
            ))}
        </section>
      ))}
    </>
  );
}

function Pair({ excerpt: { url, viewport, origin, bundle } }: { excerpt: Excerpt }) {
  const sides = [
    { name: 'Origin', png: origin },
    { name: 'Bundle', png: bundle },
  ];
  return (
    <div class="pair">
      {sides.map(({ name, png }) => (
        <figure key={name}>
          <figcaption>
            {name}, {viewport}
          </figcaption>
          <img
            alt={`${name}: ${url} at ${viewport} width, from the first difference on`}
            src={`data:image/png;base64,${png.toString('base64')}`}
          />
        </figure>
      ))}
    </div>
  );
}

function PagesTable({ pages }: { pages: readonly ProofPage[] }) {
  const more = pages.length - MAX_LISTED;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label="Table of pages">
        <table>
          <thead>
            <tr>
              <th scope="col">Page</th>
              <th scope="col">Kind</th>
              <th scope="col">Result</th>
              <th scope="col">Pixels that differ</th>
              <th scope="col">Masked</th>
            </tr>
          </thead>
          <tbody>
            {pages.slice(0, MAX_LISTED).map(({ url, template, status, differingShare, maskedShare, withoutHosts }) => (
              <tr key={url}>
                <td>{url}</td>
                <td>{template + 1}</td>
                <td>
                  {status}
                  {withoutHosts !== undefined && `, both without ${withoutHosts.join(', ')}`}
                </td>
                <td>{percent(differingShare)}</td>
                <td>{percent(maskedShare)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {more > 0 && <p>proof.json names {more} more.</p>}
    </>
  );
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}
