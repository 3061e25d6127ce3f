import { readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { createHelmTarget } from '../../../../activities/deployments/targets/helm.ts';
import { writeHelmRecorder } from '../../../helpers/helm-recorder.ts';
import { waitFor } from '../../../helpers/system/wait-for.ts';
import { emptiedFolder } from '../../../helpers/temporary-folder.ts';
import { deploymentWrite } from '../deployment-write.ts';
import { describeTarget } from './contract.ts';

const folder = emptiedFolder();

const settings = { release: 'docs', namespace: 'web', chart: 'oci://charts.test/docs', context: 'prod' };

async function calls(): Promise<string[][]> {
  const text = await readFile(join(folder, 'calls'), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

async function startRecorder() {
  await writeHelmRecorder(folder);
  return createHelmTarget(settings, { helmEnvironment: { PATH: `${folder}${delimiter}${process.env.PATH}` } });
}

describeTarget('helm', async () => ({
  target: await startRecorder(),
  async version() {
    return /bundleUrl: \S+\/(v\d)\?/.exec(await readFile(join(folder, 'values'), 'utf8').catch(() => ''))?.[1] ?? null;
  },
  fingerprint: async () => String((await calls()).filter(([command]) => command === 'upgrade').length),
  fail: () => writeFile(join(folder, 'fail'), ''),
  async repair() {
    for (const name of ['fail', 'hang']) await rm(join(folder, name), { force: true });
  },
  async hang() {
    await writeFile(join(folder, 'hang'), '');
    let reached = false;
    void waitFor(
      () =>
        readFile(join(folder, 'hanging')).then(
          () => true,
          () => false,
        ),
      { describe: 'helm runs' },
    ).then(() => {
      reached = true;
    });
    return { reached: () => reached };
  },
}));

describe('an upgrade of a release', () => {
  const context = { site: 'docs', signal: new AbortController().signal };

  it('reuses its values, and the link is in no argument', async () => {
    const target = await startRecorder();
    const bundleUrl = 'https://objects.test/v1?signature=secret';
    const integrity = `sha256-${'A'.repeat(43)}=`;
    await target.write(deploymentWrite({ bundleUrl, integrity }), context);
    const upgrade = (await calls()).find(([command]) => command === 'upgrade') ?? [];
    expect(upgrade.slice(0, 6)).toEqual([
      'upgrade',
      'docs',
      'oci://charts.test/docs',
      '--reuse-values',
      '--values',
      '-',
    ]);
    expect(upgrade.slice(-4)).toEqual(['--namespace', 'web', '--kube-context', 'prod']);
    expect(JSON.stringify(await calls())).not.toContain('signature');
    expect(await readFile(join(folder, 'values'), 'utf8')).toBe(
      `staticExport:\n  enabled: true\n  bundleUrl: ${bundleUrl}\n  integrity: ${integrity}\n`,
    );
  });

  it('is held by a pin in the values of the release, and leaves off what its operator switched off', async () => {
    const target = await startRecorder();
    await writeFile(join(folder, 'values'), 'staticExport:\n  version: v0\n');
    const next = deploymentWrite();
    expect(await target.write(next, context)).toMatchObject({ outcome: 'held', pin: 'v0' });
    await writeFile(join(folder, 'values'), 'staticExport:\n  enabled: false\n');
    expect(await target.write({ ...next, deployedBefore: true }, context)).toMatchObject({
      outcome: 'written',
      off: true,
    });
    expect(await readFile(join(folder, 'values'), 'utf8')).not.toContain('enabled: true');
    const before = (await calls()).length;
    await writeFile(join(folder, 'values'), 'staticExport:\n  enabled: false\n  version: v2\n');
    expect(await target.readSwitches?.(context.signal)).toEqual({ pin: 'v2', off: true });
    expect((await calls()).slice(before).map(([command]) => command)).toEqual(['get']);
  });
});
