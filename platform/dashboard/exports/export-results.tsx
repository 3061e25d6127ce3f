import type { ExportChanges, ExportReport } from '../../../contract/admin-api.ts';
import { EmptyState } from '../../../ui/components/empty-state.tsx';
import { Panel } from '../../../ui/components/panel.tsx';
import { Table } from '../../../ui/components/table.tsx';
import { Text } from '../../../ui/components/text.tsx';
import { formatCount } from '../../../ui/format.ts';
import { proofPath } from '../../api/static-export/export-results.ts';
import { pathOf } from '../layout.tsx';

/** The rows of each list on the page, and the referrers of each link: it stays below 100 kB. The API has all. */
const SHOWN = 40;
const REFERRERS = 3;
/** Longer addresses are cut. */
const MAX_TEXT = 160;

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

export function ReportPanel({ report }: { report: ExportReport | null }) {
  if (report === null) {
    return (
      <Panel title="Report">
        <EmptyState title="The report is no longer stored" />
      </Panel>
    );
  }
  const { brokenLinks, brokenAnchors, leftOut, unread, originUrls, notices, counts, redirects, proof } = report;
  return (
    <Panel
      title="Report"
      aside={
        <span class="soft">
          {formatCount(counts.brokenLinks, 'broken link')}, {formatCount(counts.brokenAnchors, 'broken anchor')},{' '}
          {formatCount(counts.redirects, 'redirect')}, {formatCount(counts.skippedPages, 'skipped page')}
        </span>
      }
    >
      {brokenLinks.length + brokenAnchors.length + leftOut.length + unread.length + notices.length === 0 && (
        <EmptyState title="Nothing to report" />
      )}
      {proof !== undefined && <ProofResult jobId={report.jobId} proof={proof} />}
      {brokenLinks.length > 0 && <BrokenLinks links={brokenLinks} total={counts.brokenLinks} />}
      {brokenAnchors.length > 0 && <BrokenAnchors links={brokenAnchors} total={counts.brokenAnchors} />}
      {leftOut.length > 0 && <LeftOut rules={leftOut} />}
      {unread.length > 0 && <Unread documents={unread} />}
      {originUrls.length > 0 && <OriginUrls files={originUrls} total={counts.originUrls} />}
      {notices.length > 0 && (
        <details>
          <summary>{formatCount(notices.length, 'notice')}</summary>
          <ul class="plain">
            {notices.slice(0, SHOWN).map(({ url, text }) => (
              <li key={`${url} ${text}`}>
                {url !== null && <Text>{`${cut(url)}: `}</Text>}
                <Text>{cut(text)}</Text>
              </li>
            ))}
          </ul>
        </details>
      )}
      {redirects.length > 0 && (
        <details>
          <summary>{formatCount(counts.redirects, 'redirect')}</summary>
          <ul class="plain">
            {redirects.slice(0, SHOWN).map(({ from, to, status }) => (
              <li key={from}>
                <Text>{cut(from)}</Text> → <Text>{cut(to)}</Text> <span class="soft">{status}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Panel>
  );
}

const PROOFS = {
  passed: 'Compared in a browser: no page differs from the origin',
  failed: 'Compared in a browser: pages differ from the origin',
  unknown: 'Not compared in a browser',
} as const;

function ProofResult({ jobId, proof }: { jobId: string; proof: NonNullable<ExportReport['proof']> }) {
  const { status, reason, counts, pages } = proof;
  return (
    <details open={status !== 'passed'}>
      <summary>{PROOFS[status]}</summary>
      {reason !== null && (
        <p>
          <Text>{reason}</Text>
        </p>
      )}
      {counts.pages > 0 && (
        <p>
          {counts.equal} equal, {counts.different} different, {counts.unknown} unknown, of {counts.pagesInBundle} pages.{' '}
          <a href={proofPath(jobId, 'html')}>The proof</a> <a href={proofPath(jobId, 'json')}>as JSON</a>
        </p>
      )}
      <ul class="plain">
        {pages.map(({ url, status: of, text }) => (
          <li key={url}>
            {of} <Text>{cut(url)}</Text>: <Text>{cut(text)}</Text>
          </li>
        ))}
      </ul>
    </details>
  );
}

function BrokenLinks({ links, total }: { links: ExportReport['brokenLinks']; total: number }) {
  return (
    <details open>
      <summary>{formatCount(total, 'broken link')}</summary>
      <Table
        caption="Broken links"
        rows={links.slice(0, SHOWN)}
        keyOf={({ url }) => url}
        columns={[
          { label: 'Link', kind: 'main', cell: ({ url }) => <Text>{cut(url)}</Text> },
          { label: 'Why', cell: ({ reason }) => <Text>{cut(reason)}</Text> },
          { label: 'On', cell: ({ referrers }) => <Referrers referrers={referrers} /> },
        ]}
      />
      {total > SHOWN && <p class="soft small">The API's report has all {total}.</p>}
    </details>
  );
}

function BrokenAnchors({ links, total }: { links: ExportReport['brokenAnchors']; total: number }) {
  return (
    <details>
      <summary>{formatCount(total, 'broken anchor')}</summary>
      <Table
        caption="Broken anchors"
        rows={links.slice(0, SHOWN)}
        keyOf={({ url }) => url}
        columns={[
          { label: 'Link', kind: 'main', cell: ({ url }) => <Text>{cut(url)}</Text> },
          { label: 'On', cell: ({ referrers }) => <Referrers referrers={referrers} /> },
        ]}
      />
      {total > SHOWN && <p class="soft small">The API's report has more.</p>}
    </details>
  );
}

function Referrers({ referrers }: { referrers: readonly string[] }) {
  const more = referrers.length - REFERRERS;
  return (
    <ul class="plain">
      {referrers.slice(0, REFERRERS).map((each) => (
        <li key={each}>
          <Text>{cut(each)}</Text>
        </li>
      ))}
      {more > 0 && <li class="soft">and {more} more</li>}
    </ul>
  );
}

function Unread({ documents }: { documents: ExportReport['unread'] }) {
  return (
    <details open>
      <summary>{formatCount(documents.length, 'document')} not read, or not to the end</summary>
      <ul class="plain">
        {documents.slice(0, SHOWN).map(({ url, reason }) => (
          <li key={url}>
            <Text>{cut(url)}</Text>: <Text>{cut(reason)}</Text>
          </li>
        ))}
      </ul>
    </details>
  );
}

function OriginUrls({ files, total }: { files: ExportReport['originUrls']; total: number }) {
  return (
    <details>
      <summary>{formatCount(total, 'mention')} of the origin in text and code</summary>
      <ul class="plain">
        {files.slice(0, SHOWN).map(({ url, count }) => (
          <li key={url}>
            <Text>{cut(url)}</Text>: {count}
          </li>
        ))}
      </ul>
    </details>
  );
}

function LeftOut({ rules }: { rules: ExportReport['leftOut'] }) {
  return (
    <details open>
      <summary>Left out</summary>
      <Table
        caption="Left out and why"
        rows={rules.slice(0, SHOWN)}
        keyOf={({ rule }) => rule}
        columns={[
          { label: 'Why', kind: 'main', cell: ({ reason }) => <Text>{cut(reason)}</Text> },
          { label: 'Count', kind: 'number', cell: ({ count }) => count.toLocaleString('en-US') },
          { label: 'Such as', cell: ({ examples }) => <Text>{cut(examples[0] ?? '')}</Text> },
        ]}
      />
    </details>
  );
}

export function ChangesPanel({ jobId, changes }: { jobId: string; changes: ExportChanges | null }) {
  if (changes === null || changes.since === null) {
    return (
      <Panel title="Changes">
        <EmptyState
          title={changes === null ? 'The export before is no longer stored' : 'This is the first export of these pages'}
        />
      </Panel>
    );
  }
  const { since, added, changed, removed, newlyBroken } = changes;
  const total = added.length + changed.length + removed.length + newlyBroken.length;
  return (
    <Panel
      title="Changes"
      aside={
        <span class="soft">
          since <a href={pathOf('exports', since)}>{since}</a>
        </span>
      }
    >
      {total === 0 && <EmptyState title="Nothing changed" />}
      <PathList title="Added" paths={added} />
      <PathList
        title="Changed"
        paths={changed}
        hrefOf={(path) => `${pathOf('exports', jobId, 'changed')}?path=${encodeURIComponent(path)}`}
      />
      <PathList title="Removed" paths={removed} />
      <PathList title="Newly broken" paths={newlyBroken.map(({ link, referrer }) => `${link} on ${referrer}`)} />
    </Panel>
  );
}

type PathListProps = { title: string; paths: readonly string[]; hrefOf?: (path: string) => string };

function PathList({ title, paths, hrefOf }: PathListProps) {
  if (paths.length === 0) return null;
  return (
    <details open={paths.length <= SHOWN}>
      <summary>
        {title} ({paths.length.toLocaleString('en-US')})
      </summary>
      <ul class="plain">
        {paths.slice(0, SHOWN).map((path) => (
          <li key={path}>
            {hrefOf === undefined ? (
              <Text>{cut(path)}</Text>
            ) : (
              <a href={hrefOf(path)}>
                <Text>{cut(path)}</Text>
              </a>
            )}
          </li>
        ))}
      </ul>
      {paths.length > SHOWN && <p class="soft small">and {paths.length - SHOWN} more: the API lists all.</p>}
    </details>
  );
}
