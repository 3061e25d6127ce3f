import { Badge } from '../../ui/components/badge.tsx';
import { CodeBlock, CopyField } from '../../ui/components/code.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { DefinitionList } from '../../ui/components/definition-list.tsx';
import { Diff, TextDiff } from '../../ui/components/diff.tsx';
import { EmptyState } from '../../ui/components/empty-state.tsx';
import { ActionButton, Button, ButtonLink, Checkbox, Field, Form, Select } from '../../ui/components/form.tsx';
import { Icon, type IconName } from '../../ui/components/icon.tsx';
import { Live, LiveIndicator } from '../../ui/components/live.tsx';
import { Markdown } from '../../ui/components/markdown.tsx';
import { Message } from '../../ui/components/message.tsx';
import { None } from '../../ui/components/none.tsx';
import { Pager } from '../../ui/components/pager.tsx';
import { Panel } from '../../ui/components/panel.tsx';
import { PasskeyActions } from '../../ui/components/passkey-actions.tsx';
import { PullRequestLink } from '../../ui/components/pull-request.tsx';
import { StageList } from '../../ui/components/stage-list.tsx';
import { Table } from '../../ui/components/table.tsx';
import { LongText, Text } from '../../ui/components/text.tsx';
import { Duration, RelativeTime, Time, TimeZone } from '../../ui/components/time.tsx';
import { Title } from '../../ui/components/title.tsx';
import type { DiffFile } from '../../ui/foreign/diff-files.tsx';
import { Page } from '../../ui/page.tsx';
import { ErrorPage, ShortPage } from '../../ui/short-page.tsx';

const NOW = new Date('2026-11-21T10:00:00Z');
const EARLIER = '2026-11-21T09:55:00Z';
const CSRF = 'a-csrf-token';

type Samples = { write: (sample: string) => string };

/** Every component of the pages in all its states, as a page. `write` chooses the text for each sample text. */
export function ComponentPage({ write = (sample) => sample }: Partial<Samples>) {
  return (
    <Page
      title={write('Components')}
      nav={[
        { label: write('Sites'), href: '/', current: true },
        { label: write('Members'), href: '/members' },
      ]}
      account={{ name: write('Ada'), href: '/account', csrf: CSRF }}
      crumbs={[{ label: write('Pages'), href: '/' }]}
      messages={[{ kind: 'success', text: write('The site was saved.') }]}
      footer={<TimeZone />}
    >
      <Title
        title={<Text>{write('Components')}</Text>}
        beside={
          <>
            <Badge tone="good" label={write('Live')} />
            <LiveIndicator />
          </>
        }
        below={<p class="soft">{write('docs.example.com')}</p>}
      >
        <div class="actions">
          <ActionButton action="/act" csrf={CSRF} fields={{ field: write('value') }} icon="upload" variant="primary">
            {write('Export now')}
          </ActionButton>
          <ButtonLink href="/remove" icon="trash" variant="danger">
            {write('Remove')}
          </ButtonLink>
        </div>
      </Title>
      <States write={write} />
      <Tables write={write} />
      <Forms write={write} />
      <Texts write={write} />
      <Panel title={write('Files changed')} aside={<span class="soft">{write('5')}</span>}>
        <Diff files={filesOf(write)} />
        <TextDiff path={write('index.html')} before={write('<p>Hello')} after={write('<p>Good day')} />
      </Panel>
      <Confirm
        question={write('Remove the site?')}
        action="/act"
        csrf={CSRF}
        fields={{ site: write('docs') }}
        confirmLabel={write('Remove the site')}
        cancelHref="/"
      >
        <p>{write("This can't be undone.")}</p>
      </Confirm>
    </Page>
  );
}

const ICONS: Record<IconName, true> = {
  ...{ alert: true, check: true, copy: true, info: true, key: true, lock: true, mail: true, pause: true, play: true },
  ...{ refresh: true, rollback: true, search: true, trash: true, unlock: true, upload: true, user: true, x: true },
};

function States({ write }: Samples) {
  return (
    <Panel title={write('States')} aside={<a href="/all">{write('All states')}</a>}>
      <p class="actions">
        {(['good', 'busy', 'warn', 'bad', 'neutral'] as const).map((tone) => (
          <Badge key={tone} tone={tone} label={write(tone)} />
        ))}
        {Object.keys(ICONS).map((name) => isIcon(name) && <Icon key={name} name={name} />)}
      </p>
      {(['info', 'success', 'warning', 'error'] as const).map((kind) => (
        <Message key={kind} kind={kind}>
          {write(`A message of kind ${kind}.`)}
        </Message>
      ))}
      <progress max={100} value={42} aria-label="Progress">
        42 %
      </progress>
      <StageList
        items={(['ended', 'running', 'failed', 'waiting'] as const).flatMap((status) =>
          (['quiet', 'export', 'deploy', 'served', 'refresh'] as const).map((kind) => ({
            ...{ key: `${kind} ${status}`, kind, status, name: write(`${kind}: ${status}`) },
            times: <Duration from={write(EARLIER)} to={NOW} />,
          })),
        )}
      />
      <Live id="live" url="/events">
        {write('This part is replaced by events.')}
      </Live>
      <EmptyState title={write('No sites yet')}>
        <p>{write('Add one to galley.yaml.')}</p>
      </EmptyState>
    </Panel>
  );
}

function isIcon(name: string): name is IconName {
  return Object.hasOwn(ICONS, name);
}

function Tables({ write }: Samples) {
  const rows = ['handbook', 'a-name-without-an-end-'.repeat(8)];
  return (
    <>
      {[false, true].map((fixed) => (
        <Panel key={String(fixed)} title={write('Sites')}>
          <Table
            caption={write(`Sites ${fixed}`)}
            rows={rows}
            keyOf={(row) => row}
            fixed={fixed}
            columns={[
              { label: write('Site'), kind: 'main', cell: (row) => <a href="/site">{write(row)}</a> },
              { label: write('State'), cell: () => <Badge tone="good" label={write('Live')} /> },
              { label: write('Pages'), kind: 'number', cell: () => write('1,204') },
              { label: write('Project'), cell: () => <code>{write('prj_kitchen')}</code> },
              { label: write('Plan'), cell: () => write('standard') },
              { label: write('Reason'), cell: () => write('The deployment was away for several days. '.repeat(3)) },
              {
                label: write('Published'),
                cell: (row) => <RelativeTime at={row === 'handbook' ? EARLIER : null} now={NOW} />,
              },
              {
                label: write('Actions'),
                kind: 'actions',
                cell: () => (
                  <ActionButton action="/act" csrf={CSRF} label={write('Run again: handbook')}>
                    {write('Run again')}
                  </ActionButton>
                ),
              },
            ]}
          />
        </Panel>
      ))}
      <Pager summary={write('Sites 1 to 2 of 6')} firstHref="/" nextHref="/?after=2" />
    </>
  );
}

function Forms({ write }: Samples) {
  return (
    <Panel title={write('Forms')}>
      <Form action="/" inline>
        <Field label={write('Search')} name="search" type="search" value={write('docs')} />
        <Checkbox label={write('Keep it')} name="keep" value="yes" hint={write('Unchecked at first.')} />
        <Select label={write('Phase')} name="phase" value="live" options={[{ value: 'live', label: write('Live') }]} />
        <Button icon="search">{write('Search')}</Button>
      </Form>
      <Form action="/act" csrf={CSRF}>
        <Field label={write('Name')} name="name" value={write('Ada')} hint={write('It is recorded.')} required />
        <Field label={write('Address')} name="address" value={write('x')} error={write('Expected a URL')} />
        <Field label={write('Remark')} name="remark" value={write('Good.')} rows={3} error={write('Too long')} />
        <Field label={write('Token')} name="token" type="password" autocomplete="off" isVerbatim />
        <div class="actions">
          <Button variant="primary">{write('Save')}</Button>
          <Button formAction="/other">{write('Try')}</Button>
          <Button disabled>{write('Wait')}</Button>
          <Button variant="danger" icon="x">
            {write('Cancel')}
          </Button>
        </div>
      </Form>
      <PasskeyActions action="add" label={write('Add a passkey')} to="/">
        <Select label={write('Role')} isLabelHidden name="role" value="owner" options={[]} />
      </PasskeyActions>
      <CopyField id="copied" label={write('Link')} value={write('https://example.com/bundle')} />
    </Panel>
  );
}

function Texts({ write }: Samples) {
  return (
    <Panel title={write('Texts')}>
      <DefinitionList
        items={[
          { term: write('Version'), value: <span class="mono">{write('2026-11-21.12')}</span> },
          { term: write('Published'), value: <RelativeTime at={write(EARLIER)} now={NOW} /> },
          { term: write('Exported'), value: <Time at={write(EARLIER)} /> },
          { term: write('Took'), value: <Duration from={EARLIER} to={NOW} /> },
          { term: write('Pin'), value: <None /> },
          { term: write('Pull request'), value: <PullRequestLink href="https://git.example.com/1" state="merged" /> },
          { term: write('Owner'), value: <None>none</None> },
        ]}
      />
      <LongText>{write('A text of\nseveral lines.')}</LongText>
      <Markdown>
        {write('### A heading\n\nA **text** with `code` and <https://example.com>:\n\n* one\n\n```\nnpm start\n```')}
      </Markdown>
      <CodeBlock>{write('npm start\nnpm test')}</CodeBlock>
      <details>
        <summary>{write('More')}</summary>
        <p>{write('Opened on demand.')}</p>
      </details>
      <p class="field-error">{write('Something is wrong.')}</p>
      <p class="soft small">{write('A note.')}</p>
    </Panel>
  );
}

/** Files of every kind. */
function filesOf(write: Samples['write']): DiffFile[] {
  const line = (kind: ' ' | '+' | '-', text: string) => ({ kind, text, endsWithoutNewline: false });
  const file = {
    previousPath: null,
    status: 'modified',
    additions: 1,
    deletions: 1,
    oldMode: '100644',
    newMode: '100644',
  };
  const lines = [
    line(' ', 'Handbook'),
    line('-', 'the old text'),
    line('+', 'the new text'),
    line(' ', write('The end')),
  ];
  return [
    {
      ...file,
      path: write('README.md'),
      patch: { hunks: [{ header: write('@@ -1 +1 @@'), oldStart: 1, newStart: 1, lines }] },
    },
    { ...file, path: write('long.txt'), status: 'added', additions: 9_000, deletions: 0, patch: null },
    { ...file, path: write('logo.png'), additions: null, deletions: null, patch: null },
    {
      ...file,
      path: write('new.md'),
      previousPath: write('old.md'),
      status: 'renamed',
      additions: 0,
      deletions: 0,
      patch: null,
    },
    { ...file, path: write('run.sh'), additions: 0, deletions: 0, newMode: '100755', patch: { hunks: [] } },
  ];
}

/** The pages that show components, by the name of their screenshots. */
export const COMPONENT_PAGES = {
  components: () => <ComponentPage />,
  'short-page': () => (
    <ShortPage title="Sign in">
      <Message kind="info">You are signed out.</Message>
      <Form action="/sign-in" csrf="">
        <Field label="Email" name="email" type="email" autocomplete="username" required />
        <Button variant="primary">Sign in</Button>
      </Form>
    </ShortPage>
  ),
  'error-page': () => <ErrorPage status={404} message="there is no such page" back={{ label: 'Back', href: '/' }} />,
};
