import { Badge } from '../../../ui/components/badge.tsx';
import { CopyField } from '../../../ui/components/code.tsx';
import { DefinitionList } from '../../../ui/components/definition-list.tsx';
import { EmptyState } from '../../../ui/components/empty-state.tsx';
import { Button, ButtonLink, Field, Form, Select } from '../../../ui/components/form.tsx';
import { None } from '../../../ui/components/none.tsx';
import { Panel } from '../../../ui/components/panel.tsx';
import { Table } from '../../../ui/components/table.tsx';
import { Text } from '../../../ui/components/text.tsx';
import { Title } from '../../../ui/components/title.tsx';
import type { ProjectWithContents } from '../../admin/project-requests.ts';
import { withoutCredentials } from '../../api/agent/agent-job-view.ts';
import type { Project } from '../../store/projects.ts';
import type { SignedMember } from '../access.ts';
import { ConfirmPage, MemberLayout, type MemberLayoutProps, PATHS, pathOf } from '../layout.tsx';
import type { OriginFinding } from './check-origin.ts';
import { CHOICE_NAMES, CHOICES, type ChoiceName } from './project-form.ts';

type Shared = Pick<MemberLayoutProps, 'signed' | 'messages'>;

export function ProjectsPage({ projects, ...layout }: Shared & { projects: readonly Project[] }) {
  const { signed } = layout;
  return (
    <MemberLayout {...layout} section="projects" title="Projects">
      <h1>Projects</h1>
      <Panel>
        {projects.length === 0 ? (
          <EmptyState title="No projects yet">
            <p>A project is a site: add its domain below.</p>
          </EmptyState>
        ) : (
          <Table
            caption="Projects"
            rows={projects}
            keyOf={({ id }) => id}
            columns={[
              {
                label: 'Domain',
                kind: 'main',
                cell: ({ id, domain }) => <a href={pathOf('projects', id)}>{domain}</a>,
              },
              { label: 'Project id', cell: ({ id }) => <code>{id}</code> },
              { label: 'Origin', cell: (project) => <Origin project={project} /> },
              { label: 'Repository', cell: (project) => <Repository project={project} /> },
            ]}
          />
        )}
      </Panel>
      {signed.membership.role !== 'reviewer' && (
        <Panel title="Add a project">
          <Form action={PATHS.projects} csrf={signed.csrf} inline>
            <Field label="Domain" name="domain" maxLength={253} required />
            <Button variant="primary">Add project</Button>
          </Form>
        </Panel>
      )}
    </MemberLayout>
  );
}

/** Members don't learn the origin that an operator set: it may be an address of the operator's network. */
function Origin({ project: { origin, domain } }: { project: Project }) {
  return origin === null ? <Text>{`https://${domain}`}</Text> : <None>set by an operator</None>;
}

function Repository({ project: { repository, ref } }: { project: Project }) {
  if (repository === null) return <None>none</None>;
  return (
    <>
      <Text>{withoutCredentials(repository)}</Text>
      {ref !== null && (
        <span class="soft">
          {' '}
          at <Text>{ref}</Text>
        </span>
      )}
    </>
  );
}

/** What an agent's change may contain protects the repository, so it is the operator's as well. */
function AgentPaths({ paths }: { paths: Project['settings']['agentPaths'] }) {
  if (paths === null) return <>all files but those that configure CI, and new executables</>;
  return (
    <ul class="plain">
      {paths.map((path) => (
        <li key={path}>
          <Text>{path}</Text>
        </li>
      ))}
    </ul>
  );
}

type ProjectProps = Shared & { project: Project; findings?: readonly OriginFinding[] };

export function ProjectPage({ project, findings, ...layout }: ProjectProps) {
  const { signed } = layout;
  const { id, domain } = project;
  const canChange = signed.membership.role !== 'reviewer';
  const isOwner = signed.membership.role === 'owner';
  return (
    <MemberLayout {...layout} section="projects" title={domain} crumbs={[{ label: 'Projects', href: PATHS.projects }]}>
      <Title title={domain}>
        <div class="actions">
          {canChange && (
            <ButtonLink href={pathOf('projects', id, 'check')} icon="check">
              Check the origin
            </ButtonLink>
          )}
          <ButtonLink href={`${PATHS.exports}?domain=${encodeURIComponent(domain)}`}>Exports</ButtonLink>
          <ButtonLink href={`${PATHS.agents}?project=${encodeURIComponent(id)}`}>Agent jobs</ButtonLink>
          {isOwner && otherOwned(signed).length > 0 && (
            <ButtonLink href={pathOf('projects', id, 'move')}>Move</ButtonLink>
          )}
          {isOwner && (
            <ButtonLink href={pathOf('projects', id, 'remove')} variant="danger">
              Remove
            </ButtonLink>
          )}
        </div>
      </Title>
      {findings !== undefined && <Findings findings={findings} />}
      <Panel>
        <CopyField id="project-id" label="Project id" value={id} />
        <DefinitionList
          items={[
            { term: 'Origin', value: <Origin project={project} /> },
            { term: 'Repository', value: <Repository project={project} /> },
            { term: 'Agents may change', value: <AgentPaths paths={project.settings.agentPaths} /> },
          ]}
        />
        <p class="soft small">
          An operator changes these:{' '}
          <code>galley projects set --project {id} --origin URL --repository URL --agent-paths PATTERN…</code>
        </p>
      </Panel>
      {canChange && <SettingsForm project={project} csrf={signed.csrf} />}
    </MemberLayout>
  );
}

/** The names of the member's other organizations, to which they may move projects. */
export function otherOwned({ membership, memberships }: SignedMember): string[] {
  return memberships
    .filter(({ role, organizationId }) => role === 'owner' && organizationId !== membership.organizationId)
    .map(({ organization }) => organization);
}

export function RemoveProjectPage({ signed, project }: { signed: SignedMember; project: ProjectWithContents }) {
  const { exports, agentJobs } = project.contents;
  return (
    <ConfirmPage
      {...{ signed, section: 'projects', question: 'Remove this project?', confirmLabel: 'Remove the project' }}
      action={pathOf('projects', project.project, 'remove')}
      cancelHref={pathOf('projects', project.project)}
      inputs={<Field label="Domain of the project" name="domain" maxLength={253} required />}
    >
      <p>
        {project.domain} is removed with {exports} exports, their bundles and {agentJobs} agent jobs. Links to its
        bundles end, and keys for it alone are revoked. This can't be undone: enter its domain.
      </p>
    </ConfirmPage>
  );
}

export function MoveProjectPage({ signed, project: { id, domain } }: { signed: SignedMember; project: Project }) {
  const options = otherOwned(signed).map((name) => ({ value: name, label: name }));
  return (
    <ConfirmPage
      {...{ signed, section: 'projects', question: 'Move this project?', confirmLabel: 'Move the project' }}
      action={pathOf('projects', id, 'move')}
      cancelHref={pathOf('projects', id)}
      inputs={
        <Select label="To the organization" name="organization" value={options[0]?.value ?? ''} options={options} />
      }
    >
      <p>
        {domain} moves with its exports and agent jobs. Keys of {signed.membership.organization} no longer reach it, and
        keys for it alone end.
      </p>
    </ConfirmPage>
  );
}

function SettingsForm({ project: { id, domain, settings }, csrf }: { project: Project; csrf: string }) {
  return (
    <Panel title="Settings">
      <Form action={pathOf('projects', id)} csrf={csrf}>
        <Field label="Domain" name="domain" value={domain} maxLength={253} required />
        <div class="columns">
          {CHOICE_NAMES.map((name) => (
            <Choice key={name} name={name} value={settings[name]} />
          ))}
          <Field
            label="Pages to compare in a browser"
            name="prove"
            type="number"
            value={String(settings.prove)}
            hint="0 compares none"
            required
          />
        </div>
        <Button variant="primary">Save</Button>
      </Form>
    </Panel>
  );
}

function Choice({ name, value }: { name: ChoiceName; value: string | boolean | readonly string[] }) {
  const { label, options } = CHOICES[name];
  const listed = Object.entries(options).map(([key, text]) => ({ value: key, label: text }));
  const hosts = typeof value === 'object' ? [{ value: 'list', label: `Leave as links: ${value.join(', ')}` }] : [];
  return (
    <Select
      label={label}
      name={name}
      value={typeof value === 'object' ? 'list' : String(value)}
      options={[...hosts, ...listed]}
    />
  );
}

const GOOD = { tone: 'good', label: 'Fine' } as const;
const BAD = { tone: 'bad', label: 'Problem' } as const;

function Findings({ findings }: { findings: readonly OriginFinding[] }) {
  return (
    <Panel title="What the origin says">
      <Table
        caption="What the origin says"
        rows={findings}
        keyOf={({ what }) => what}
        columns={[
          { label: 'Looked for', kind: 'main', cell: ({ what }) => what },
          {
            label: 'Result',
            cell: ({ isGood }) => <Badge {...(isGood ? GOOD : BAD)} />,
          },
          { label: 'Found', cell: ({ found }) => <Text>{found}</Text> },
        ]}
      />
    </Panel>
  );
}
