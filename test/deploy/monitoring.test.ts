import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const rulesFile = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
});
const testsFile = z.object({
  tests: z.array(
    z.object({
      alert_rule_test: z.array(z.object({ alertname: z.string(), exp_alerts: z.array(z.unknown()) })),
    }),
  ),
});
const dashboardFile = z.object({
  panels: z.array(
    z.object({
      id: z.int(),
      title: z.string(),
      gridPos: z.object({ x: z.int(), w: z.int() }),
      targets: z.array(z.object({ expr: z.string() })).default([]),
    }),
  ),
});

const read = (file: string): string => readFileSync(file, 'utf8');
const rules = rulesFile.parse(parse(read('deploy/prometheus/alerts.yml'))).groups.flatMap((group) => group.rules);
const { panels } = dashboardFile.parse(JSON.parse(read('deploy/grafana/galley.json')));
const page = read('docs/operate/monitoring.md');

/** The name without histogram suffixes. */
function metricsIn(expressions: readonly string[]): string[] {
  const names = expressions.flatMap((each) => each.match(/\b(galley|temporal)_\w+/g) ?? []);
  return [...new Set(names.map((name) => name.replace(/_bucket$/, '')))];
}

describe('the alert rules', () => {
  it('each have a test in which the rule fires, and one in which it does not', () => {
    const cases = testsFile
      .parse(parse(read('deploy/prometheus/alerts.test.yml')))
      .tests.flatMap(({ alert_rule_test }) => alert_rule_test);
    const having = (fires: boolean): Set<string> =>
      new Set(cases.filter(({ exp_alerts }) => exp_alerts.length > 0 === fires).map(({ alertname }) => alertname));
    const names = rules.map(({ alert }) => alert);
    expect(names.filter((name) => !having(true).has(name) || !having(false).has(name))).toEqual([]);
  });

  it('are all documented with instructions', () => {
    expect(rules.map(({ alert }) => alert).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('the dashboard', () => {
  it('shows panels side by side, each under an id of its own', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });

  it('uses, like the alert rules, only metrics that are documented', () => {
    const expressions = [
      ...rules.map(({ expr }) => expr),
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ];
    const names = metricsIn(expressions);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !page.includes(`\`${name}`))).toEqual([]);
  });
});
