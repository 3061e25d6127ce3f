import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../../base/error-code.ts';
import { cacheFolder, programName } from '../../embedded/cache-folder.ts';
import { exists, installOnce } from '../../embedded/install-once.ts';
import { type Report, reportToStderr, runTool } from '../../embedded/run-tool.ts';
import type { LocateOptions } from '../../embedded/temporal/locate-dev-server.ts';
import { downloadServer } from '../../embedded/temporal/sdk-download.ts';

/** The release of Temporal's Java SDK that contains the test server. */
const TEST_SERVER_VERSION = '1.32.1';

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>galley</groupId>
  <artifactId>temporal-test-server</artifactId>
  <version>${TEST_SERVER_VERSION}</version>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${TEST_SERVER_VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

/** The only argument is the port. A small heap and the fast compiler suit short tests. */
const WRAPPER = `#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
exec java -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \\
  -cp "$here/lib/*" io.temporal.testserver.TestServer "$@"
`;

/**
 * Locates Temporal's time-skipping test server in the user's cache folder. On first use it installs the SDK's download,
 * or the same release from Maven Central with a start script (POSIX only). Resolves with an executable that takes a port.
 * @throws Error with the reason why each way failed and what to do.
 */
export async function locateTimeSkippingServer(options: Omit<LocateOptions, 'path'> = {}): Promise<string> {
  const { report = reportToStderr, cache = cacheFolder() } = options;
  const program = programName('temporal-test-server');
  const folder = join(cache, 'temporal-test-server');
  if (!(await exists(folder))) await installOnce({ target: folder, report, install: (work) => install(work, report) });
  return join(folder, program);
}

async function install(folder: string, report: Report): Promise<string> {
  const failures: string[] = [];
  const program = join(folder, programName('temporal-test-server'));
  report('Temporal test server: downloading the official build');
  try {
    const downloaded = await downloadServer({ artifact: 'temporal-test-server', folder, report });
    if (downloaded !== program) await rename(downloaded, program);
    return folder;
  } catch (error) {
    failures.push(errorText(error));
    report(`  not possible: ${errorText(error)}`);
  }
  report(`Temporal test server: fetching release ${TEST_SERVER_VERSION} with Maven`);
  try {
    await fetchWithMaven(folder, report);
    await writeFile(program, WRAPPER);
    await chmod(program, 0o755);
    return folder;
  } catch (error) {
    failures.push(errorText(error));
  }
  throw new Error(
    `No time-skipping test server could be installed (${failures.join('; ')}). ` +
      'Install Java and Maven, or allow access to temporal.download, and run the tests again.',
  );
}

async function fetchWithMaven(folder: string, report: Report): Promise<void> {
  await writeFile(join(folder, 'pom.xml'), POM);
  await runTool({
    command: 'mvn',
    args: ['-B', '-ntp', 'dependency:copy-dependencies', `-DoutputDirectory=${join(folder, 'lib')}`],
    cwd: folder,
    timeoutMs: 10 * 60_000,
    report,
  });
  await runTool({ command: 'java', args: ['-version'], timeoutMs: 30_000, report });
}
