import { join } from 'node:path';
import { errorText } from '../../base/error-code.ts';
import { cacheFolder, programName } from '../cache-folder.ts';
import { findOnPath } from '../find-on-path.ts';
import { exists, installOnce } from '../install-once.ts';
import { type Report, reportToStderr, runTool } from '../run-tool.ts';
import { downloadServer } from './sdk-download.ts';

const GO_PACKAGE = 'github.com/temporalio/cli/cmd/temporal';
const GO_MODULES = [
  // The newest release that can be built as a module: later ones have a replace directive.
  `${GO_PACKAGE}@v1.5.1`,
  // If a client gives up a call, the release's own SQLite can end the server's only connection for good: "interrupted (9)".
  'modernc.org/sqlite@v1.44.3',
];

/** The build took 2.5 minutes on two cores with nothing cached. */
const GO_BUILD_USUAL_MS = 150_000;
const GO_BUILD_TIMEOUT_MS = 20 * 60_000;

export interface LocateOptions {
  report?: Report;
  cache?: string;
  path?: string;
}

/**
 * The `temporal` program, installed on first use. Searched in this order: the PATH, the user's cache folder, the SDK's
 * download, a build with Go.
 * @throws Error that says why each way failed and what to do.
 */
export async function locateDevServer(options: LocateOptions = {}): Promise<string> {
  const { report = reportToStderr, cache = cacheFolder() } = options;
  const onPath = await findOnPath('temporal', options.path ?? process.env.PATH);
  if (onPath && (await isTemporalCli(onPath))) return onPath;
  const target = join(cache, 'bin', programName('temporal'));
  if (await exists(target)) return target;
  return await installOnce({
    target,
    report,
    install: async (folder) => {
      const failures: string[] = [];
      report('No Temporal dev server found. Galley installs one into your cache folder; this happens only once.');
      report('Temporal dev server: downloading the official build');
      try {
        return await downloadServer({ artifact: 'cli', folder, report });
      } catch (error) {
        failures.push(errorText(error));
        report(`  not possible: ${errorText(error)}`);
      }
      report(`Temporal dev server: building it with Go (${GO_MODULES[0]}); this usually takes 2 to 5 minutes`);
      try {
        return await buildWithGo(folder, report);
      } catch (error) {
        failures.push(errorText(error));
      }
      throw new Error(
        `No Temporal dev server could be installed (${failures.join('; ')}). ` +
          'Install the Temporal CLI so that `temporal` is on the PATH (https://docs.temporal.io/cli), ' +
          'or set TEMPORAL_ADDRESS to a running Temporal service.',
      );
    },
  });
}

/** Other programs are called `temporal` too, and a broken download doesn't run at all. */
async function isTemporalCli(program: string): Promise<boolean> {
  const version = await runTool({ command: program, args: ['--version'], timeoutMs: 10_000, report: () => {} }).catch(
    () => '',
  );
  return version.startsWith('temporal version');
}

async function buildWithGo(folder: string, report: Report): Promise<string> {
  const built = join(folder, programName('temporal'));
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' };
  const limits = { timeoutMs: GO_BUILD_TIMEOUT_MS, usualMs: GO_BUILD_USUAL_MS };
  for (const args of [
    ['mod', 'init', 'example.com/build'],
    ['get', ...GO_MODULES],
    ['build', '-v', '-o', built, GO_PACKAGE],
  ])
    await runTool({ command: 'go', args, cwd: folder, env, ...limits, report });
  return built;
}
