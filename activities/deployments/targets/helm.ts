import { execa } from 'execa';
import { stringify } from 'yaml';
import { z } from 'zod';
import { errorText } from '../../../base/error-code.ts';
import type { SettingsOf } from '../../../contract/target-kind.ts';
import { planEditBounded, readSwitchesBounded } from '../bounded-values.ts';
import type { DeploymentTarget, DeploymentWrite, TargetCheck } from '../deployment-target.ts';
import { parseSidecar, type Sidecar } from '../sidecar.ts';

export type HelmDeps = {
  /** What helm inherits, such as `PATH`, `HOME`, `KUBECONFIG`. */
  helmEnvironment?: Readonly<Record<string, string>> | undefined;
};

const releaseStatus = z.object({ info: z.object({ description: z.string().optional() }).optional() });

/** Stands before the state in a release's description. */
const MARK = 'Galley: ';

const TIMEOUT_MS = 90_000;

/**
 * A release of a Helm chart. Galley upgrades it with the values that it has and the two of its own, by the standard input:
 * in an argument, every user of the machine could read the link. What was written last is in the release's description.
 */
export function createHelmTarget(settings: SettingsOf<'helm'>, { helmEnvironment }: HelmDeps = {}): DeploymentTarget {
  return {
    async write(write, { signal }) {
      const run = runner(settings, helmEnvironment, signal);
      const current = stateIn(await run(['status', settings.release, '--output', 'json']));
      const values = await readValues(run, settings);
      const plan = await planEditBounded(write, valuesText(values), current);
      if (plan.kind === 'refused') return plan.report;
      if (JSON.stringify(current) === JSON.stringify(plan.sidecar)) return plan.report;
      await upgrade(run, settings, { write, off: plan.report.off === true, sidecar: plan.sidecar });
      return plan.report;
    },
    async readSwitches(signal) {
      const run = runner(settings, helmEnvironment, signal);
      return await readSwitchesBounded(valuesText(await readValues(run, settings)));
    },
    check: ({ signal }) => checkRelease(runner(settings, helmEnvironment, signal), settings),
  };
}

async function checkRelease(run: Run, settings: SettingsOf<'helm'>): Promise<TargetCheck> {
  const { release, namespace, context = 'the current context' } = settings;
  const version = await attempt(() => run(['version', '--short']));
  if (version.error !== undefined) {
    const fix = 'Install Helm where the worker runs, and put its folder into PATH.';
    return { message: `helm can't be run: ${version.error}`, fix };
  }
  const read = await attempt(async () => await readSwitchesBounded(valuesText(await readValues(run, settings))));
  if (read.error === undefined) {
    const message = `helm ${version.value.trim()} reads the release ${release} in ${namespace} of ${context}`;
    return { message, fix: null };
  }
  const fix = 'Check KUBECONFIG and helm.context, and that the release exists: create it once with helm install.';
  return { message: `helm ${version.value.trim()} runs, but not for ${release}: ${read.error}`, fix };
}

async function attempt<T>(work: () => Promise<T>): Promise<{ value: T; error?: never } | { error: string }> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error: errorText(error) };
  }
}

type Run = (args: readonly string[], input?: string) => Promise<string>;

/** Those that its operators and Galley set, without the chart's own. */
async function readValues(run: Run, { release }: SettingsOf<'helm'>): Promise<string> {
  return await run(['get', 'values', release, '--output', 'yaml']);
}

async function upgrade(
  run: Run,
  { release, chart }: SettingsOf<'helm'>,
  { write, off, sidecar }: { write: DeploymentWrite; off: boolean; sidecar: Sidecar },
): Promise<void> {
  const enabled = write.kind === 'deploy' && !off ? { enabled: true } : {};
  const { bundleUrl, integrity } = write;
  const staticExport = { ...enabled, bundleUrl, ...(integrity !== undefined && { integrity }) };
  const description = `${MARK}${JSON.stringify(sidecar)}`;
  const options = ['--reuse-values', '--values', '-', '--description', description];
  await run(['upgrade', release, chart, ...options], stringify({ staticExport }));
}

function runner(
  { namespace, context }: SettingsOf<'helm'>,
  env: Readonly<Record<string, string>> | undefined,
  signal: AbortSignal,
): Run {
  const where = ['--namespace', namespace, ...(context === undefined ? [] : ['--kube-context', context])];
  return async (args, input) => {
    const result = await execa('helm', [...args, ...where], {
      ...(env !== undefined && { env, extendEnv: false }),
      ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
      cancelSignal: signal,
      timeout: TIMEOUT_MS,
      reject: false,
    });
    signal.throwIfAborted();
    if (result.exitCode === 0) return result.stdout;
    const said = result.stderr
      ?.trim()
      .split('\n')
      .at(-1)
      ?.replace(/^Error: /, '');
    const why = result.timedOut ? `no end within ${TIMEOUT_MS / 1000} s` : said || result.shortMessage || 'it failed';
    throw new Error(`helm ${args[0]}: ${why}`.replaceAll(/https?:\/\/[^\s?]{1,2000}\?\S*/g, '…').slice(0, 400));
  };
}

/** Null after someone else's upgrade. */
function stateIn(status: string): Sidecar | null {
  const { info } = releaseStatus.parse(JSON.parse(status));
  const description = info?.description ?? '';
  return description.startsWith(MARK) ? parseSidecar(description.slice(MARK.length)) : null;
}

/** Helm prints `null` for a release without values of its own. */
function valuesText(yaml: string): string {
  return yaml.trim() === 'null' ? '' : yaml;
}
