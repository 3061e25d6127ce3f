import { z } from 'zod';
import { CodeBlock } from '../../../ui/components/code.tsx';
import { None } from '../../../ui/components/none.tsx';
import { Panel } from '../../../ui/components/panel.tsx';
import { Table } from '../../../ui/components/table.tsx';
import { Title } from '../../../ui/components/title.tsx';
import { Page } from '../../../ui/page.tsx';

const schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  get anyOf(): z.ZodOptional<z.ZodArray<typeof schema>> {
    return z.array(schema).optional();
  },
  get items(): z.ZodOptional<typeof schema> {
    return schema.optional();
  },
  get properties(): z.ZodOptional<z.ZodRecord<z.ZodString, typeof schema>> {
    return z.record(z.string(), schema).optional();
  },
  required: z.array(z.string()).optional(),
  description: z.string().optional(),
});
type Schema = z.infer<typeof schema>;

const content = z
  .object({ 'application/json': z.looseObject({ schema, example: z.unknown().optional() }).optional() })
  .optional();
const operation = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string().optional(),
  parameters: z
    .array(z.looseObject({ name: z.string(), in: z.string(), required: z.boolean(), description: z.string(), schema }))
    .default([]),
  requestBody: z.looseObject({ content }).optional(),
  responses: z.record(z.string(), z.looseObject({ description: z.string(), content })),
});
type Operation = z.infer<typeof operation> & { method: string; path: string };

const description = z.looseObject({
  info: z.object({ title: z.string(), description: z.string() }).loose(),
  servers: z.tuple([z.object({ url: z.string() })]),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({ schemas: z.record(z.string(), schema) }),
});

/** A project of the reader, for the examples. */
export type ExampleProject = { id: string; domain: string };

/** The OpenAPI document of the Admin API as one page, without scripts. `document`: what createOpenApiDocument returns. */
export function ReferencePage({ document, project }: { document: object; project: ExampleProject | undefined }) {
  const { info, servers, tags, paths, components } = description.parse(document);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]): Operation => ({ ...each, method: method.toUpperCase(), path })),
  );
  const of = (tag: string) => operations.filter((each) => each.tags.includes(tag));
  return (
    <Page title="API" nav={tags.map(({ name }) => ({ label: name, href: `#${idOf(name)}` }))} isStatic>
      <Title title={info.title} below={<p class="soft">{withCode(info.description)}</p>} />
      <p>
        Each request has the header <code>Authorization: Bearer galley_…</code> with a key of your organization. The
        same for programs: <a href="../openapi.json">openapi.json</a>
      </p>
      {tags.map(({ name, description: about }) => (
        <Panel key={name} id={idOf(name)} title={name} aside={<span class="soft">{about}</span>}>
          <ul>
            {of(name).map(({ operationId, summary, method, path }) => (
              <li key={operationId}>
                <a href={`#${operationId}`}>{summary}</a> <code class="soft">{`${method} ${path}`}</code>
              </li>
            ))}
          </ul>
        </Panel>
      ))}
      {operations.map((each) => (
        <OperationPanel key={each.operationId} {...{ each, project }} url={servers[0].url} named={components.schemas} />
      ))}
    </Page>
  );
}

type Named = Readonly<Record<string, Schema>>;
type OperationProps = { each: Operation; url: string; named: Named; project: ExampleProject | undefined };

function OperationPanel({ each, url, named, project }: OperationProps) {
  const sent = each.requestBody?.content?.['application/json'];
  const [status, answer] = Object.entries(each.responses).find(([code]) => code.startsWith('2')) ?? [];
  const parameters = each.parameters.map((parameter) => ({
    ...fieldOf(parameter.name, parameter.schema, parameter.required),
    about: parameter.description,
    place: parameter.in,
  }));
  const body = sent === undefined ? [] : fieldsOf(sent.schema, named).map((field) => ({ ...field, place: 'body' }));
  const answered = answer?.content?.['application/json'];
  const fields = answered === undefined ? [] : fieldsOf(answered.schema, named);
  return (
    <Panel id={each.operationId} title={each.summary} aside={<code>{`${each.method} ${each.path}`}</code>}>
      {each.description !== undefined && <p>{withCode(each.description)}</p>}
      <CodeBlock>{commandOf(each, { url, project, example: sent?.example })}</CodeBlock>
      {parameters.length + body.length > 0 && (
        <Table
          caption={`What ${each.operationId} takes`}
          columns={[...FIELD_COLUMNS, { label: 'In', cell: ({ place }) => place }]}
          rows={[...parameters, ...body]}
          keyOf={({ name, place }) => `${place} ${name}`}
        />
      )}
      {fields.length > 0 && (
        <>
          <h3>{`Response ${status}`}</h3>
          <Table
            caption={`What ${each.operationId} returns`}
            columns={FIELD_COLUMNS}
            rows={fields}
            keyOf={({ name }) => name}
          />
        </>
      )}
      <h3>Statuses</h3>
      <Table
        caption={`Statuses of ${each.operationId}`}
        columns={[
          { label: 'Status', kind: 'main', cell: ([code]) => code },
          { label: 'Meaning', cell: ([, response]) => withCode(response.description) },
        ]}
        rows={Object.entries(each.responses)}
        keyOf={([code]) => code}
      />
    </Panel>
  );
}

type Field = { name: string; type: string; about: string | undefined; isRequired: boolean };

const FIELD_COLUMNS = [
  { label: 'Field', kind: 'main' as const, cell: ({ name }: Field) => <code>{name}</code> },
  { label: 'Type', cell: ({ type, isRequired }: Field) => (isRequired ? type : `${type}, optional`) },
  { label: 'Meaning', cell: ({ about }: Field) => (about === undefined ? <None /> : withCode(about)) },
];

/** An object's fields. Of several forms, the fields of all. */
function fieldsOf(of: Schema, named: Named): Field[] {
  const { properties = {}, required = [], anyOf = [] } = resolve(of, named);
  const own = Object.entries(properties).map(([name, each]) => fieldOf(name, each, required.includes(name)));
  return [...own, ...anyOf.flatMap((each) => fieldsOf(each, named))].filter(
    ({ name }, index, all) => all.findIndex((other) => other.name === name) === index,
  );
}

function resolve(of: Schema, named: Named): Schema {
  return of.$ref === undefined ? of : (named[nameOf(of.$ref)] ?? of);
}

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

function fieldOf(name: string, of: Schema, isRequired: boolean): Field {
  return { name, type: typeOf(of), about: of.description, isRequired };
}

function typeOf({ $ref, anyOf, enum: values, const: value, items, type = 'any', format }: Schema): string {
  if ($ref !== undefined) return nameOf($ref);
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  if (values !== undefined) return values.map((each) => JSON.stringify(each)).join(', ');
  if (value !== undefined) return JSON.stringify(value);
  if (items !== undefined) return `list of ${typeOf(items)}`;
  return format ?? [type].flat().join(' or ');
}

type Example = { url: string; project: ExampleProject | undefined; example: unknown };

/** The request as a command for a terminal, with the reader's own project. */
function commandOf({ method, path, parameters }: Operation, { url, project, example }: Example): string {
  const query = parameters.filter((each) => each.in === 'query' && each.required).map(({ name }) => `${name}=…`);
  const place = path.replace('{projectId}', project?.id ?? '{projectId}');
  const lines = [
    `curl${method === 'GET' ? '' : ` --request ${method}`} '${url}${place}${query.length > 0 ? `?${query.join('&')}` : ''}'`,
    '--header "Authorization: Bearer $ADMIN_API_KEY"',
  ];
  if (example !== undefined) lines.push(`--json '${shellText(withDomain(example, project))}'`);
  return lines.join(' \\\n  ');
}

function withDomain(example: unknown, project: ExampleProject | undefined): unknown {
  const fields = z.looseObject({ domain: z.string() }).safeParse(example);
  return fields.success && project !== undefined ? { ...fields.data, domain: project.domain } : example;
}

/** JSON between single quotes. */
const shellText = (value: unknown): string => JSON.stringify(value).replaceAll("'", "'\\''");

/** What is between backticks as code. */
function withCode(text: string) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}

const idOf = (tag: string): string => tag.toLowerCase().replaceAll(' ', '-');
