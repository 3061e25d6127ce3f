import { EXPORT_DEFAULTS } from '../../contract/export-defaults.ts';
import type { Answers } from './answers.ts';
import { secretVariable } from './answers.ts';

type Written = Omit<Answers, 'publicHost'> & {
  /** Default: that of a hosted Admin API, because `galley up` makes its own. */
  projectId?: string | undefined;
  /** The variable of the webhook's secret. */
  variable?: string;
};

/** The text of galley.yaml for these answers, with a comment for each thing that an operator may want to change. */
export function renderConfig(answers: Written): string {
  const { site, domain, origin, source, valuesFile, adminApi } = answers;
  const own = adminApi === undefined;
  const { projectId = adminApi?.projectId, variable = secretVariable(source) } = answers;
  const project = projectId === undefined ? '' : `    projectId: ${quoted(projectId)}\n`;
  return `# Galley's configuration. docs/configuration.md explains every key; \`galley config check\` lists mistakes.
# \${NAME} is read from the environment, or from .env beside this file, so that this file has no secret.

sites:
  # The name is part of the webhook's URL: /webhooks/${site}/${source}
  ${quoted(site)}:
    domain: ${quoted(domain)}
${project}${own ? originLines(origin) : '    # Where the site is exported from is a setting of its project at the Admin API.\n'}    webhooks:
      ${source}:
        secret: "\${${variable}}"
    export:
      quietPeriod: ${seconds(EXPORT_DEFAULTS.quietPeriodMs)} # a burst of publishes makes one export
      maxWait: ${seconds(EXPORT_DEFAULTS.maxWaitMs)} # but never later than this
      deployments:
        # Relative to this file. The first deploy creates it.
        - valuesFile: ${quoted(valuesFile)}

    # Prompt a coding agent at each publish: docs/guide/agent-rules.md.
    # agent:
    #   - name: changelog
    #     on: publish
    #     prompt: "Add a line about {{ event.title }} to CHANGELOG.md."
    #     reviewers: [ada@example.com]

# Email to reviewers, and to operators about failures that last.
# smtp:
#   url: "\${SMTP_URL}"
#   from: Galley <galley@example.com>
# operators: [ops@example.com]

# Notifications beside mail: docs/guide/notifications.md.
# notify:
#   - slack: "\${SLACK_URL}"
${own ? '' : ADMIN_API}`;
}

const seconds = (ms: number): string => `${ms / 1_000}s`;

const ADMIN_API = `
# The hosted Admin API; these are the defaults.
adminApi:
  url: "\${ADMIN_API_URL}"
  key: "\${ADMIN_API_KEY}"
`;

function originLines(origin: string | undefined): string {
  if (origin === undefined)
    return '    # origin: http://127.0.0.1:8080 # if the site is served elsewhere than at its domain\n';
  return `    # The server to export from, because the site isn't served at its domain.\n    origin: ${quoted(origin)}\n`;
}

/** A YAML scalar. JSON's strings are valid YAML; \`\${\` would be a variable. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) && /^[A-Za-z./]/.test(text) && !/^(true|false|null|yes|no|on|off)$/i.test(text)
    ? text
    : JSON.stringify(text).replaceAll('${', () => '$${');
}

/** The variables to write to .env. */
export function variablesOf(answers: Answers, secret: string): Record<string, string> {
  const { source, adminApi, temporal, publicUrl } = answers;
  return {
    [secretVariable(source)]: secret,
    ...(adminApi && { ADMIN_API_URL: adminApi.url, ADMIN_API_KEY: adminApi.key }),
    ...(temporal && { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: temporal.namespace }),
    ...(temporal?.apiKey !== undefined && { TEMPORAL_API_KEY: temporal.apiKey }),
    ...(publicUrl !== undefined && { API_PUBLIC_URL: publicUrl }),
  };
}
